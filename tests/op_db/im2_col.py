"""Rows of the windows of images.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import Inputs, OpInfo, Sample

WINDOWS = (
    ((3, 2), (1, 1), (0, 0), (1, 1)),
    ((2, 2), (2, 1), (1, 2), (1, 2)),
    ((1, 1), (1, 1), (0, 0), (2, 2)),
    ((3, 3), (1, 1), (1, 1), (3, 3)),
)
BAD = (
    ((0, 2), (1, 1), (0, 0), (1, 1)),
    ((2, 2), (0, 1), (0, 0), (1, 1)),
    ((2, 2), (1, 1), (-1, 0), (1, 1)),
    ((2, 2), (1, 1), (0, 0), (0, 1)),
    ((9, 9), (1, 1), (0, 0), (1, 1)),
    ((2, 2, 2), (1, 1), (0, 0), (1, 1)),
)


def images(make: Inputs) -> Iterator[Sample]:
    for window in WINDOWS:
        yield Sample((make(2, 3, 5, 6), *window))
        yield Sample((make(3, 5, 6), *window))
        yield Sample((make(2, 3, 5, 6, layout="transposed"), *window))
    yield Sample((make(1, 1, 3, 4), (2, 2), (1, 1), (1, 0), (1, 2)))
    yield Sample((make(2, 0, 5, 6), *WINDOWS[0]))
    yield Sample((make(5, 6), *WINDOWS[0]))
    for window in BAD:
        yield Sample((make(2, 3, 5, 6), *window))


def columns(make: Inputs) -> Iterator[Sample]:
    for window, length in zip(WINDOWS, (15, 20, 9, 4), strict=True):
        taps = window[0][0] * window[0][1]
        yield Sample((make(2, 2 * taps, length), (5, 6), *window))
        yield Sample((make(taps, length), (5, 6), *window))
        yield Sample((make(2, 2 * taps, length + 1), (5, 6), *window))
    yield Sample((make(1, 4, 2), (2, 3), (2, 2), (1, 1), (0, 0), (1, 1)))
    yield Sample((make(2, 7, 15), (5, 6), *WINDOWS[0]))
    yield Sample((make(6), (5, 6), *WINDOWS[0]))
    for window in BAD:
        yield Sample((make(2, 4, 4), (5, 6), *window))


ROWS = [OpInfo("im2col", images), OpInfo("col2im", columns)]
