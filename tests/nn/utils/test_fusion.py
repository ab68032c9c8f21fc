"""Folding batch norms into layers: weights and biases are torch's.

Mirrors: test/nn/test_parametrization.py
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import reftorch
from reftorch import nn
from reftorch.nn.utils import fusion


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("missing", [(), ("conv_b",), ("bn_w", "bn_b")])
def test_weights_are_those_of_torch(transpose: bool, missing: tuple[str, ...], real_torch: ModuleType) -> None:
    rng = np.random.default_rng(0)
    names = ("conv_b", "bn_rm", "bn_rv", "bn_w", "bn_b")
    arrays: dict[str, Any] = {name: rng.random(4).astype(np.float32) + 0.5 for name in names}
    arrays["conv_w"] = rng.random((2, 4, 3, 3) if transpose else (4, 2, 3, 3)).astype(np.float32)
    found = []
    for library in (reftorch, real_torch):
        tensors = {k: None if k in missing else library.tensor(v.tolist()) for k, v in arrays.items()}
        weights = library.nn.utils.fusion.fuse_conv_bn_weights(**tensors, bn_eps=1e-3, transpose=transpose)
        assert all(isinstance(w, library.nn.Parameter) and not w.requires_grad for w in weights)
        found.append([w.detach().numpy() for w in weights])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_linear_maps() -> None:
    linear, bn = nn.Linear(2, 3, bias=False), nn.BatchNorm1d(3)
    for _ in range(3):
        bn(linear(reftorch.randn(8, 2)))
    fused = fusion.fuse_linear_bn_eval(linear.eval(), bn.eval())
    x = reftorch.randn(4, 2)
    assert reftorch.allclose(fused(x), bn(linear(x)), atol=1e-6) and fused.weight.requires_grad
    assert linear.bias is None


def test_wrong_modules_are_refused() -> None:
    with pytest.raises(AssertionError, match="Fusion only for eval!"):
        fusion.fuse_linear_bn_eval(nn.Linear(2, 3), nn.BatchNorm1d(3).eval())
    with pytest.raises(AssertionError, match=r"running_mean and bn\.running_var must not be None"):
        fusion.fuse_conv_bn_eval(nn.Linear(2, 3).eval(), nn.BatchNorm1d(3, track_running_stats=False).eval())
    with pytest.raises(AssertionError, match=r"To fuse, linear\.out_features == bn.num_features"):
        fusion.fuse_linear_bn_eval(nn.Linear(2, 3).eval(), nn.BatchNorm1d(4).eval())
