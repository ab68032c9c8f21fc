"""Linear maps as modules.

Mirrors: test/test_nn.py
Leaves out: lazy maps, which are in test_lazy.py.
"""

from types import ModuleType

import pytest

import reftorch
from reftorch import nn


@pytest.mark.parametrize("bias", [True, False])
def test_the_same_seed_gives_the_network_of_torch(real_torch: ModuleType, bias: bool) -> None:
    results = []
    for lib in (reftorch, real_torch):
        lib.manual_seed(0)
        layer = lib.nn.Linear(3, 4, bias=bias)
        x = lib.ones(2, 3, requires_grad=True)
        out = layer(x)
        (out * out).sum().backward()
        tensors = [*layer.parameters(), out, x.grad, layer.weight.grad]
        results.append([value for tensor in tensors for value in tensor.reshape(-1).tolist()])
    assert results[0] == pytest.approx(results[1], rel=1e-5, abs=1e-6)


def test_bounds_of_the_start() -> None:
    layer = nn.Linear(25, 100)
    for param in layer.parameters():
        assert 0.19 < param.abs().max().item() <= 0.2


def test_without_bias() -> None:
    layer = nn.Linear(2, 3, bias=False)
    assert layer.bias is None
    assert list(layer.state_dict()) == ["weight"]
    assert repr(layer) == "Linear(in_features=2, out_features=3, bias=False)"


def test_dtype() -> None:
    layer = nn.Linear(2, 3, dtype=reftorch.float64)
    assert layer.weight.dtype is layer.bias.dtype is reftorch.float64


def test_no_input_features() -> None:
    with pytest.warns(UserWarning, match="zero-element"):
        layer = nn.Linear(0, 3)
    assert layer(reftorch.ones(2, 0)).tolist() == [[0.0] * 3] * 2


def test_identity() -> None:
    x = reftorch.ones(2)
    assert nn.Identity(1, foo=2)(x) is x
    assert repr(nn.Identity()) == "Identity()"


@pytest.mark.parametrize("bias", [True, False])
def test_bilinear(real_torch: ModuleType, bias: bool) -> None:
    results = []
    for lib in (reftorch, real_torch):
        lib.manual_seed(0)
        layer = lib.nn.Bilinear(3, 4, 2, bias=bias)
        x, y = lib.ones(5, 3, requires_grad=True), lib.arange(20.0).reshape(5, 4)
        out = layer(x, y)
        (out * out).sum().backward()
        tensors = [*layer.parameters(), out, x.grad, layer.weight.grad]
        results.append([value for tensor in tensors for value in tensor.reshape(-1).tolist()])
        assert repr(layer) == f"Bilinear(in1_features=3, in2_features=4, out_features=2, bias={bias})"
        with pytest.raises(ValueError, match=r"in1_features must be > 0, but got \(in1_features=0\)"):
            lib.nn.Bilinear(0, 4, 2)
    assert results[0] == pytest.approx(results[1], rel=1e-5, abs=1e-6)
