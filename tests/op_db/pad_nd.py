"""Rows of padding.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import DTYPES, Inputs, OpInfo, Sample


def borders(make: Inputs) -> Iterator[Sample]:
    for pad in ((1, 2), (0, 1, 2, 0), (-1, 2), (1, -1, -1, 0), (-1, -1), (), (1, 1, 0, 0, 2, 1)):
        yield Sample((make(2, 3, 4), pad))
        yield Sample((make(2, 3, 4, layout="transposed"), pad, 2))
    yield Sample((make(2, 3, 2, 2), (1, 1), 1))
    yield Sample((make(0, 3), (1, 1)))
    yield Sample((make(2), (-1, -1)))


ROWS = [
    OpInfo("constant_pad_nd", borders, dtypes=DTYPES),
]
