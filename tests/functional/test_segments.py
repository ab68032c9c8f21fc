"""Reductions of pieces, as torch reduces them.

Mirrors: test/test_segment_reductions.py
"""

import math
from collections.abc import Callable
from typing import Any

import pytest

import reftorch
from tests.op_db.checks import assert_same_outcome

REDUCTIONS = ("sum", "mean", "prod", "max", "min", "amax", "amin")


def data(t: Any, *shape: int, dtype: str = "float64") -> Any:
    return t.arange(1, math.prod(shape) + 1).mul(5).remainder(7).sub(2).reshape(shape).to(getattr(t, dtype))


CALLS: dict[str, Callable[[Any, str], Any]] = {
    "vector": lambda t, r: t.segment_reduce(data(t, 6), r, lengths=t.tensor([1, 2, 3])),
    "an empty piece": lambda t, r: t.segment_reduce(data(t, 6), r, lengths=t.tensor([0, 3, 0, 3])),
    "initial": lambda t, r: t.segment_reduce(data(t, 6), r, lengths=t.tensor([0, 4, 2]), initial=2),
    "offsets": lambda t, r: t.segment_reduce(data(t, 6), r, offsets=t.tensor([0, 1, 1, 6])),
    "offsets leave out ends": lambda t, r: t.segment_reduce(data(t, 6), r, offsets=t.tensor([1, 3, 5])),
    "rows of a matrix": lambda t, r: t.segment_reduce(data(t, 6, 2), r, lengths=t.tensor([2, 4])),
    "each row its own": lambda t, r: t.segment_reduce(data(t, 2, 5, 3), r, lengths=t.tensor([[2, 3], [5, 0]]), axis=1),
    "negative axis": lambda t, r: t.segment_reduce(data(t, 2, 3), r, lengths=t.tensor([[1, 2], [2, 1]]), axis=-1),
    "int32": lambda t, r: t.segment_reduce(data(t, 6), r, lengths=t.tensor([2, 4], dtype=t.int32)),
    "not dense": lambda t, r: t.segment_reduce(data(t, 2, 6).t(), r, lengths=t.tensor([2, 4])),
    "nan": lambda t, r: t.segment_reduce(t.tensor([1.0, math.nan, 2.0, 3.0]), r, lengths=t.tensor([3, 1])),
    "unsafe": lambda t, r: t.segment_reduce(data(t, 6), r, lengths=t.tensor([2, 1]), unsafe=True),
    "half": lambda t, r: t.segment_reduce(data(t, 6, dtype="float16"), r, lengths=t.tensor([2, 4])),
    "too short": lambda t, r: t.segment_reduce(data(t, 6), r, lengths=t.tensor([1, 2])),
    "negative length": lambda t, r: t.segment_reduce(data(t, 6), r, lengths=t.tensor([7, -1])),
    "no lengths": lambda t, r: t.segment_reduce(data(t, 6), r),
    "indices": lambda t, r: t.segment_reduce(data(t, 2), r, indices=t.tensor([0, 1])),
    "another axis": lambda t, r: t.segment_reduce(data(t, 6, 2), r, lengths=t.tensor([1, 1]), axis=1),
    "axis out of range": lambda t, r: t.segment_reduce(data(t, 6), r, lengths=t.tensor([6]), axis=1),
    "no axis": lambda t, r: t.segment_reduce(t.tensor(1.0), r, lengths=t.tensor(1)),
    "no such reduction": lambda t, r: t.segment_reduce(data(t, 6), r + "s", lengths=t.tensor([6])),
    "integers": lambda t, r: t.segment_reduce(data(t, 6, dtype="int64"), r, lengths=t.tensor([6])),
    "float lengths": lambda t, r: t.segment_reduce(data(t, 6), r, lengths=t.tensor([6.0])),
}


@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("name", CALLS)
def test_equals_torch(name: str, reduce: str, real_torch: Any) -> None:
    call = CALLS[name]
    assert_same_outcome(lambda: call(reftorch, reduce), lambda: call(real_torch, reduce), f"{name} {reduce}")


def gradient(t: Any, reduce: str, **pieces: Any) -> Any:
    x = data(t, 6, 2).requires_grad_()
    t.segment_reduce(x, reduce, **pieces).square().sum().backward()
    return x.grad


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_gradient_equals_torchs(reduce: str, real_torch: Any) -> None:
    for pieces in ({"lengths": [1, 3, 0, 2]}, {"offsets": [0, 4, 6]}, {"lengths": [6], "initial": 1.5}):
        (ours, theirs) = (
            gradient(t, reduce, **{k: t.tensor(v) if k != "initial" else v for k, v in pieces.items()})
            for t in (reftorch, real_torch)
        )
        assert ours.flatten().tolist() == pytest.approx(theirs.flatten().tolist()), pieces


def test_no_piece_reaches_past_the_data() -> None:
    with pytest.raises(RuntimeError, match="sum to more than the 2 elements"):
        reftorch.segment_reduce(reftorch.ones(2), "sum", lengths=reftorch.tensor([5]), unsafe=True)
    with pytest.raises(RuntimeError, match="negative"):
        reftorch.segment_reduce(reftorch.ones(2), "sum", offsets=reftorch.tensor([2, 0]))
