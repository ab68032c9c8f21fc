"""Rows of the grid of an affine map.

Mirrors: torch/testing/_internal/common_methods_invocations.py
"""

from collections.abc import Iterator
from typing import Any

from tests.op_db.core import Inputs, OpInfo, Sample
from tests.op_db.samples.unary import backward_op


def calls(make: Inputs) -> Iterator[Sample]:
    if make.dtype in ("float64", "float32"):
        for corners in (False, True):
            yield Sample((make(2, 2, 3), [2, 3, 4, 5], corners))
            yield Sample((make(1, 3, 4), [1, 1, 2, 1, 2], corners))
        yield Sample((make(1, 2, 3), [1, 1, 2], False))


def backwards(make: Inputs) -> Iterator[Sample]:
    if make.dtype in ("float64", "float32"):
        for corners in (False, True):
            yield Sample((make(1, 2, 3, 2), [1, 2, 2, 3], corners))
            yield Sample((make(1, 2, 1, 2, 3), [1, 1, 2, 1, 2], corners))


def backward(lib: Any, *args: Any) -> Any:
    return backward_op(lib, "affine_grid_generator_backward")(*args)  # type: ignore[operator]


COMMON: dict[str, Any] = {"dtypes": ("float64", "float32"), "out": False}

ROWS = [
    OpInfo("affine_grid_generator", calls, **COMMON),
    OpInfo("affine_grid_generator_backward", backwards, call=backward, **COMMON),
]
