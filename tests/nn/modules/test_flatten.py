"""Merging and splitting dimensions.

Mirrors: test/test_nn.py
Leaves out: named dimensions.
"""

import pytest

import reftorch
from reftorch import nn


def test_flatten() -> None:
    x = reftorch.arange(24).reshape(2, 3, 4)
    assert nn.Flatten()(x).shape == (2, 12)
    assert nn.Flatten(0, 1)(x).tolist() == x.reshape(6, 4).tolist()
    assert repr(nn.Flatten(0, 1)) == "Flatten(start_dim=0, end_dim=1)"


@pytest.mark.parametrize(
    ("dim", "size", "shape"), [(1, (3, 4), (2, 3, 4)), (-1, [2, -1], (2, 2, 6)), (0, (1, 2), (1, 2, 12))]
)
def test_unflatten(dim: int, size: tuple[int, ...], shape: tuple[int, ...]) -> None:
    x = reftorch.arange(24).reshape(2, 12)
    assert nn.Unflatten(dim, size)(x).tolist() == x.reshape(shape).tolist()
    assert repr(nn.Unflatten(1, (3, 4))) == "Unflatten(dim=1, unflattened_size=(3, 4))"


def test_sizes_must_be_ints() -> None:
    with pytest.raises(TypeError, match="must be tuple of ints, but found element of type float at pos 1"):
        nn.Unflatten(1, (2, 3.0))
    with pytest.raises(TypeError, match="must be a tuple of ints, but found type int"):
        nn.Unflatten(1, 3)
