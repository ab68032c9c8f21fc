"""Histograms, as torch counts them.

Mirrors: test/test_reductions.py (test_histogram, test_histogramdd)
"""

from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked
from tests.op_db.checks import assert_same_outcome

CALLS = {
    "bins": lambda t: t.histogram(t.tensor([1.0, 2.0, 1.0, 9.0]), 4),
    "default": lambda t: t.histogram(t.linspace(0, 1, 50).reshape(5, 10)),
    "equal": lambda t: t.histogram(t.ones(3), 2),
    "empty": lambda t: t.histogram(t.zeros(0), 2),
    "integers": lambda t: t.histogram(t.tensor([1, 2]), 2),
    "range": lambda t: t.histogram(t.tensor([1.0, 2.0, 3.0, 0.0]), 4, range=(0.0, 2.0)),
    "empty range": lambda t: t.histogram(t.ones(2), 2, range=(3.0, 1.0)),
    "infinite range": lambda t: t.histogram(t.ones(2), 2, range=(0.0, float("inf"))),
    "no bins": lambda t: t.histogram(t.ones(2), 0),
    "nan": lambda t: t.histogram(t.tensor([float("nan"), 0.5]), 2, range=(0.0, 1.0)),
    "nan decides": lambda t: t.histogram(t.tensor([float("nan"), 0.5]), 2),
    "edges": lambda t: t.histogram(t.tensor([1.0, 2.0, 3.0, 4.0]), t.tensor([0.0, 2.0, 3.0])),
    "density": lambda t: t.histogram(
        t.tensor([1.0, 2.0, 3.0]), t.tensor([0.0, 2.0, 3.0]), weight=t.tensor([1.0, 2.0, 3.0]), density=True
    ),
    "edges of another dtype": lambda t: t.histogram(t.ones(2), t.tensor([0.0, 2.0], dtype=t.float64)),
    "edges in rows": lambda t: t.histogram(t.ones(2), t.tensor([[0.0, 1.0]])),
    "no edges": lambda t: t.histogram(t.ones(2), t.zeros(0)),
    "one edge": lambda t: t.histogram(t.ones(2), t.zeros(1)),
    "an edge without dimensions": lambda t: t.histogram(t.ones(2), t.tensor(1.0)),
    "no bins for integers": lambda t: t.histogram(t.tensor([1, 2]), 0),
    "float edges for integers": lambda t: t.histogram(t.tensor([1, 2]), t.ones(2, 2)),
    "integer edges": lambda t: t.histogram(t.tensor([1, 2]), t.tensor([1, 2])),
    "half": lambda t: t.histogram(t.ones(3).half(), t.tensor([0.0, 1.0]).half()),
    "bins for half": lambda t: t.histogram(t.ones(3).half(), 2),
    "no bins in a grid": lambda t: t.histogramdd(points(t), [2, 0]),
    "one edge in a grid": lambda t: t.histogramdd(points(t), [t.ones(2), t.ones(1)]),
    "edges and range": lambda t: t.histogram(t.ones(2), t.tensor([0.0, 1.0]), range=(0.0, 1.0)),
    "short weight": lambda t: t.histogram(t.ones(2), 2, weight=t.ones(1)),
    "weight of another dtype": lambda t: t.histogram(t.ones(2), 2, weight=t.ones(2).double()),
    "method": lambda t: t.arange(9.0).histogram(3, density=True),
    "out": lambda t: [*t.histogram(t.arange(9.0), 3, out=(t.empty(0), t.empty(0)))],
    "out of another dtype": lambda t: t.histogram(t.ones(3), 2, out=(t.empty(0).double(), t.empty(0))),
    "grid": lambda t: t.histogramdd(points(t), [3, 3]),
    "one number": lambda t: t.histogramdd(points(t), 2, weight=t.tensor([1.0, 2.0, 4.0, 8.0])),
    "grid of edges": lambda t: t.histogramdd(points(t), [t.tensor([0.0, 1.0, 2.0, 3.0]), t.tensor([0.0, 1.0, 2.0])]),
    "grid density": lambda t: t.histogramdd(points(t), [2, 2], range=[0.0, 1.0, 0.0, 1.0], density=True),
    "too few bins": lambda t: t.histogramdd(points(t), [2]),
    "a vector": lambda t: t.histogramdd(t.ones(3), 2),
    "half a range": lambda t: t.histogramdd(points(t), [2, 2], range=[0.0, 1.0]),
}


def points(t: Any) -> Any:
    return t.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0]])


@pytest.mark.parametrize("name", CALLS)
def test_equals_torch(name: str, real_torch: Any) -> None:
    call = CALLS[name]
    assert_same_outcome(lambda: call(reftorch), lambda: call(real_torch), name)


def test_weights_are_added(real_torch_or_none: Any) -> None:
    def program(t: Any) -> None:
        result = t.histogram(t.tensor([0.0, 1.0, 1.0]), 2, weight=t.tensor([1.0, 2.0, 4.0]))
        assert result.hist.tolist() == [1.0, 6.0]
        assert repr(result).startswith("torch.return_types.histogram(\nhist=tensor([1., 6.]),\nbin_edges=")

    program(reftorch)
    if real_torch_or_none is not None:
        asked(real_torch_or_none, program)
