"""Folding batch norms, removing dropout.

Mirrors: test/test_fx_experimental.py
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import fx, nn
from reftorch.fx.experimental.optimization import fuse, remove_dropout
from tests.fx import both

IN_TORCH = pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning")


def trained(library: ModuleType) -> nn.Module:
    nn = library.nn
    first = nn.Sequential(nn.Linear(4, 6, bias=False), nn.BatchNorm1d(6), nn.ReLU())
    net = nn.Sequential(first, nn.Dropout(), nn.Linear(6, 3), nn.BatchNorm1d(3))
    library.manual_seed(0)
    for _ in range(3):
        net(library.randn(8, 4) * 3 + 1)
    return net.eval()


@IN_TORCH
def test_fusing_computes_the_same_with_fewer_modules(real_torch: ModuleType, noted: Any) -> None:
    codes = []
    for library in (reftorch, real_torch):
        net = trained(library)
        optimization = __import__(f"{library.__name__}.fx.experimental.optimization", fromlist=["fuse"])
        fused = optimization.fuse(net)
        x = library.randn(5, 4)
        assert library.allclose(fused(x), net(x), atol=1e-5)
        called = [fused.get_submodule(node.target) for node in fused.graph.find_nodes(op="call_module")]
        assert [type(m).__name__ for m in called] == ["Linear", "ReLU", "Dropout", "Linear"]
        codes.append(both.plain(fused.code))
    assert codes[0] == noted(codes[1]) and "getattr(self" in codes[0]


def test_a_layer_with_other_users_is_not_fused() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.bn = nn.Linear(2, 2), nn.BatchNorm1d(2)

        def forward(self, x):  # type: ignore[no-untyped-def]
            y = self.fc(x)
            return self.bn(y) + y

    assert "self.bn" in fuse(Net().eval()).code


def test_training_mode_is_refused() -> None:
    with pytest.raises(AssertionError, match="Fusion only for eval!"):
        fuse(trained(reftorch).train())


def test_in_place_and_without_tracing() -> None:
    net, x = trained(reftorch), reftorch.randn(5, 4)
    assert reftorch.allclose(fuse(net, inplace=True)(x), net(x), atol=1e-5)
    traced = fx.symbolic_trace(trained(reftorch))
    assert fuse(traced, no_trace=True).code == fuse(traced).code


@IN_TORCH
def test_dropout_goes(real_torch: ModuleType, noted: Any) -> None:
    optimization = __import__(f"{real_torch.__name__}.fx.experimental.optimization", fromlist=["fuse"])
    ours, theirs = remove_dropout(trained(reftorch)), optimization.remove_dropout(trained(real_torch))
    assert both.plain(ours.code) == noted(both.plain(theirs.code))
