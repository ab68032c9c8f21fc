"""Rows of reading and writing where a mask is true.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import Inputs, Sample
from tests.op_db.samples.indexing import mask, row


def filled(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), mask(make, 2, 3), 1))
    yield Sample((make(2, 3, layout="transposed"), mask(make, 3), 0))


def filled_tensor(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), mask(make, 2, 3), make()))


def masked(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), mask(make, 2, 3)))
    yield Sample((make(3), mask(make, 2, 3)))
    yield Sample((make(2, 3, layout="transposed"), mask(make, 3)))


def scattered_by_mask(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), mask(make, 2, 3), make(7)))
    yield Sample((make(2, 3, layout="transposed"), mask(make, 3), make(2, 3)))
    yield Sample((make(3), mask(make, 2, 3), make(6)))
    yield Sample((make(), mask(make), make(1)))


ROWS = [
    row("masked_fill.Scalar", filled),
    row("masked_fill.Tensor", filled_tensor),
    row("masked_select", masked),
    row("masked_scatter", scattered_by_mask),
]
