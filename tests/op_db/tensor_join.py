"""Rows of joining tensors.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import Inputs, Sample
from tests.op_db.samples.shape import lists, of, row


def joined(make: Inputs) -> Iterator[Sample]:
    yield Sample(([make(2, 3), make(1, 3)],))
    yield Sample(([make(2, 1), make(2, 3), make(0)], -1))
    yield Sample(([make(0), make(2, 3)], 0))
    yield Sample(([make(2, 2, layout="transposed"), make(1, 2)], 0))


ROWS = [
    # joined
    row("cat cat.out", joined),
    row("stack stack.out", lists((2, 3), (2, 3), calls=((), (1,), (-1,)))),
    row("repeat", of(2, 3, calls=(((2, 1),), ((2, 1, 2),)))),
]
