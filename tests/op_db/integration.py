"""Rows of differences and integrals along a dimension.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import Inputs, Sample
from tests.op_db.samples.reduce import reduction


def differences(make: Inputs) -> Iterator[Sample]:
    for x in (make(6), make(3, 4), make(2, 3, 2, layout="transposed")):
        for n in (0, 1, 2, 9):
            for dim in (0, -1):
                yield Sample((x, n, dim))
    yield Sample((make(2, 3),), {"prepend": make(2, 1), "append": make(2, 2)})
    yield Sample((make(2, 3),), {"append": make(1, 3), "dim": 0})
    yield Sample((make(),))
    yield Sample((make(3), -1))
    yield Sample((make(3),), {"prepend": make()})
    yield Sample((make(2, 3),), {"prepend": make(3, 1)})


def areas(make: Inputs) -> Iterator[Sample]:
    for x in (make(6), make(3, 4), make(2, 3, 2, layout="transposed")):
        yield Sample((x,))
        yield Sample((x,), {"dx": 2, "dim": 0})
        yield Sample((x,), {"dx": 0.5})
    yield Sample((make(2, 0),))
    yield Sample((make(2, 1),))


def areas_over(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), make(4)))
    yield Sample((make(3, 4), make(3, 4)))
    yield Sample((make(3, 4), make(3)), {"dim": 0})
    yield Sample((make(2, 3, 2), make(3, 2)), {"dim": 1})
    yield Sample((make(3, 4), make(3)))


ROWS = [
    reduction("diff", " diff.out", differences),
    reduction("trapezoid", ".dx", areas),
    reduction("trapezoid", ".x", areas_over),
    reduction("trapz", ".dx", areas),
    reduction("trapz", ".x", areas_over),
    reduction("cumulative_trapezoid", ".dx", areas),
    reduction("cumulative_trapezoid", ".x", areas_over),
]
