"""Pooling against torch's.

Mirrors: test/nn/test_pooling.py
"""

from typing import Any

import pytest

import reftorch as torch
from tests.op_db.suite import OpTests


class TestRows(OpTests):
    FAMILIES = "max_pooling average_pooling"


def outcome(lib: Any, op: str, *shapes: tuple[int, ...], sizes: list[int] | None = None) -> Any:
    """The shapes of the results, or the type of the error."""
    tensors = [lib.zeros(shape, dtype=lib.float64) for shape in shapes]
    try:
        result = getattr(lib.ops.aten, op)(*tensors, *([] if sizes is None else [sizes]))
    except (RuntimeError, IndexError) as error:
        return type(error)
    return [tuple(t.shape) for t in (result if isinstance(result, (tuple, list)) else (result,))]


@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("shape", [(), (0, 5, 4, 5), (1, 0, 5, 4, 5), (2, 3), (0, 5, 4)])
def test_empty_inputs_and_those_without_dimensions(dims: int, shape: tuple[int, ...], real_torch: Any) -> None:
    for op in ("adaptive_avg_pool", "_adaptive_avg_pool", "adaptive_max_pool"):
        for size in (1, 2):
            call = f"{op}{dims}d", shape
            assert outcome(torch, *call, sizes=[size] * dims) == outcome(real_torch, *call, sizes=[size] * dims), call
    if len(shape) != 2:  # torch reads beyond its memory
        backward = f"_adaptive_avg_pool{dims}d_backward", shape, shape
        assert outcome(torch, *backward) == outcome(real_torch, *backward)
