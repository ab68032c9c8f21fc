"""Normalization of single examples.

Mirrors: test/test_nn.py
Leaves out: the layers that are not there.
"""

from collections.abc import Callable
from types import ModuleType

import pytest

from tests.nn.modules.layers import check_layer

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
