"""Normalization of single examples.

Mirrors: test/test_nn.py
Leaves out: the layers that are not there.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

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
