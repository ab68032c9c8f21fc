"""Rows of padding.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import DTYPES, Apart, Inputs, OpInfo, Sample


def borders(make: Inputs) -> Iterator[Sample]:
    for pad in ((1, 2), (0, 1, 2, 0), (-1, 2), (1, -1, -1, 0), (-1, -1), (), (1, 1, 0, 0, 2, 1)):
        yield Sample((make(2, 3, 4), pad))
        yield Sample((make(2, 3, 4, layout="transposed"), pad, 2))
    yield Sample((make(2, 3, 2, 2), (1, 1), 1))
    yield Sample((make(0, 3), (1, 1)))
    yield Sample((make(2), (-1, -1)))


def all_modes(make: Inputs) -> Iterator[Sample]:
    for mode in ("constant", "reflect", "replicate", "circular"):
        yield Sample((make(2, 3, 4), (1, 2), mode))
        yield Sample((make(1, 2, 3, 4, layout="rolled"), (1, 2, 0, 1), mode))
        yield Sample((make(3, 4), (-1, 3), mode))
        yield Sample((make(3), (1, 1), mode))
        yield Sample((make(3, 4), (1, 1), mode, 1.5))
        yield Sample((make(3, 4), (1,), mode))
    yield Sample((make(3, 4), (1, 1), "mirror"))


def numbered_modes(make: Inputs) -> Iterator[Sample]:
    for mode in range(-1, 5):
        yield Sample((make(2, 2, 3), (1, 2), mode))


def circles(make: Inputs) -> Iterator[Sample]:
    for pad in ((1, 2), (3, 0), (-1, 2), (2, -1), (-1, -2), (0, 0), (5, 0), (-3, -2), (1, 1, 1), ()):
        yield Sample((make(2, 4), pad))
    for pad in ((1, 2, 2, 1), (-1, 1, 0, 0), (2, 2)):
        yield Sample((make(2, 3, 2, layout="transposed"), pad))
    yield Sample((make(1, 2, 2, 2, 2), (1, 0, 0, 1, 2, 1)))
    yield Sample((make(0, 2), (1, 1)))


ROWS = [
    OpInfo("constant_pad_nd", borders, dtypes=DTYPES),
    OpInfo("pad", all_modes, dtypes=DTYPES, out=False),
    OpInfo("_pad_enum", numbered_modes, dtypes=DTYPES, out=False),
    OpInfo(
        "_pad_circular",
        circles,
        dtypes=DTYPES,
        out=False,
        apart=(
            Apart(
                "torch copies memory that nothing has written where the crop leaves too little", says="wrapping around"
            ),
        ),
    ),
]
