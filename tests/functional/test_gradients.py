"""Differences on grids and coordinates, as torch has them.

Mirrors: test/test_torch.py (test_gradient_all), test/test_indexing.py (test_unravel_index)
"""

from typing import Any

import pytest

import reftorch
from tests.op_db.checks import assert_same_outcome

CALLS = {
    "row": lambda t: t.gradient(row(t)),
    "step": lambda t: t.gradient(row(t), spacing=2.0),
    "coordinates": lambda t: t.gradient(row(t), spacing=(t.tensor([0.0, 1.0, 3.0, 4.0]),)),
    "second order": lambda t: t.gradient(row(t), edge_order=2),
    "coordinates, second order": lambda t: t.gradient(row(t), spacing=[t.tensor([0.0, 1.0, 3.0, 4.0])], edge_order=2),
    "third order": lambda t: t.gradient(row(t), edge_order=3),
    "too short": lambda t: t.gradient(t.ones(1)),
    "too short for the second order": lambda t: t.gradient(t.ones(2), edge_order=2),
    "integers": lambda t: t.gradient(t.tensor([1, 2, 4])),
    "uint8": lambda t: t.gradient(t.tensor([1, 2, 4], dtype=t.uint8)),
    "every dimension": lambda t: t.gradient(grid(t)),
    "a step each": lambda t: t.gradient(grid(t), spacing=(1.0, 2.0)),
    "too many steps": lambda t: t.gradient(grid(t), spacing=(1.0, 2.0, 3.0)),
    "no spacing": lambda t: t.gradient(row(t), spacing=None),
    "one dimension": lambda t: t.gradient(grid(t), dim=0),
    "a list of one": lambda t: t.gradient(grid(t).t(), dim=[1], spacing=[2.0]),
    "twice the same": lambda t: t.gradient(grid(t), spacing=2.0, dim=(0, 0)),
    "past the end": lambda t: t.gradient(grid(t), dim=2),
    "coordinates each": lambda t: t.gradient(grid(t), spacing=[t.tensor([0.0, 1, 2, 4]), t.tensor([0.0, 3.0, 4.0])]),
    "a place": lambda t: t.unravel_index(t.tensor(4), (3, 2)),
    "places": lambda t: t.unravel_index(t.tensor([[4, 1]]), (3, 2)),
    "past the shape": lambda t: t.unravel_index(t.tensor([34, 78]), (2, 2, 2)),
    "from the end": lambda t: t.unravel_index(t.tensor([-1]), (2, 2)),
    "one size": lambda t: t.unravel_index(t.tensor([1]), 3),
    "int32": lambda t: t.unravel_index(t.tensor([4, 1], dtype=t.int32), (3, 2)),
    "uint8, sizes past it": lambda t: t.unravel_index(t.tensor([4, 1], dtype=t.uint8), (3, 1000)),
    "no size": lambda t: t.unravel_index(t.tensor([1]), ()),
    "a negative size": lambda t: t.unravel_index(t.tensor([1]), (-1,)),
    "float indices": lambda t: t.unravel_index(t.tensor([1.0]), (2,)),
    "a float size": lambda t: t.unravel_index(t.tensor([1]), (2.0,)),
    "a tensor for a shape": lambda t: t.unravel_index(t.tensor([1]), t.tensor([2, 2])),
}


def row(t: Any) -> Any:
    return t.tensor([1.0, 2.0, 4.0, 9.0])


def grid(t: Any) -> Any:
    return t.tensor([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [2.0, 0.0, 7.0], [2.0, 2.0, 5.0]])


@pytest.mark.parametrize("name", CALLS)
def test_equals_torch(name: str, real_torch: Any) -> None:
    call = CALLS[name]
    assert_same_outcome(lambda: call(reftorch), lambda: call(real_torch), name)


def test_a_slope_has_a_gradient() -> None:
    x = reftorch.tensor([1.0, 2.0, 4.0], requires_grad=True)
    (slope,) = reftorch.gradient(x)
    (slope * reftorch.tensor([0.0, 1.0, 0.0])).sum().backward()
    assert x.grad.tolist() == [-0.5, 0.0, 0.5]


def test_parabolas_are_differentiated_exactly() -> None:
    points = reftorch.tensor([0.0, 1.0, 3.0, 4.5])
    (slope,) = reftorch.gradient(points**2, spacing=(points,), edge_order=2)
    assert reftorch.allclose(slope, 2 * points)
