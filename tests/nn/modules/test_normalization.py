"""Normalization of single examples.

Mirrors: test/test_nn.py
Leaves out: the layers that are not there.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.nn.modules.layers import check_error, check_layer

LAYERS: dict[str, Callable] = {
    "LayerNorm": lambda lib: lib.nn.LayerNorm(3),
    "LayerNorm of two": lambda lib: lib.nn.LayerNorm([4, 3], eps=1e-3, bias=False),
    "LayerNorm plain": lambda lib: lib.nn.LayerNorm(3, elementwise_affine=False),
    "RMSNorm": lambda lib: lib.nn.RMSNorm(3),
    "RMSNorm plain": lambda lib: lib.nn.RMSNorm([4, 3], eps=1e-3, elementwise_affine=False),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str, real_torch: ModuleType) -> None:
    check_layer(LAYERS[name], real_torch)


@pytest.mark.parametrize("options", [{}, {"affine": False}, {"bias": False}, {"eps": 0.1}])
def test_group_norm(options: dict[str, Any], real_torch: Any) -> None:
    check_layer(lambda t: t.nn.GroupNorm(2, 4, **options), real_torch)
    check_error(lambda t: t.nn.GroupNorm(3, 4), real_torch)


def test_local_response_norm(real_torch: Any) -> None:
    check_layer(lambda t: t.nn.LocalResponseNorm(2, alpha=0.3, beta=0.5, k=2.0), real_torch)


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("channels", [1, 3, 7])
def test_cross_map_lrn(size: int, channels: int, real_torch: ModuleType) -> None:
    results = []
    for lib in (reftorch, real_torch):
        layer = lib.nn.CrossMapLRN2d(size, alpha=0.3, beta=0.5, k=2.0)
        x = lib.arange(float(channels * 12)).sin().reshape(2, channels, 2, 3).requires_grad_()
        y = layer(x)
        (y * lib.arange(float(channels * 12)).cos().reshape(y.shape)).sum().backward()
        results.append((repr(layer), y.grad_fn.name(), y.flatten().tolist() + x.grad.flatten().tolist()))
    assert results[0][:2] == results[1][:2]
    assert results[0][2] == pytest.approx(results[1][2], rel=1e-4, abs=1e-5)
    check_error(lambda lib: lib.nn.CrossMapLRN2d(size)(lib.ones(2, 3)), real_torch)
