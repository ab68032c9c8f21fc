"""Rows of searches in sorted sequences.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import INF, NAN, Apart, Input, Inputs, Sample
from tests.op_db.samples.sorting import NUMBERS, row


def searches(make: Inputs) -> Iterator[Sample]:
    boundaries = make.of(-2, 0, 0, 1, 3)
    for options in ({}, {"right": True}, {"side": "right"}, {"side": "left", "out_int32": True}):
        yield Sample((boundaries, make(3, 4)), options)
        yield Sample((make.of([-2, 0, 1], [0, 0, 3]), make(2, 5)), options)
        yield Sample((boundaries, make()), options)
    yield Sample((boundaries, make(3, 4, layout="transposed")))
    yield Sample((boundaries, make.of(NAN, INF, -INF)))
    yield Sample((make.of(1, -2, 0), make(4)), {"sorter": Input(np.array([1, 2, 0]), "int64")})
    yield Sample((boundaries, make(3, dtype="float64")))
    yield Sample((boundaries, make(0)))
    yield Sample((make(0), make(3)))
    yield Sample((boundaries, make(3)), {"side": "left", "right": True})


def searches_of_number(make: Inputs) -> Iterator[Sample]:
    for value in (0, 1, 2.5):
        yield Sample((make.of(-2, 0, 0, 1, 3), value))
        yield Sample((make.of(-2, 0, 0, 1, 3), value), {"right": True})
    yield Sample((make.of([1, 2]), 1))


def buckets(make: Inputs) -> Iterator[Sample]:
    for right in (False, True):
        yield Sample((make(3, 4), make.of(-2, 0, 0, 1, 3)), {"right": right})
    yield Sample((make(3), make(2, 2)))
    yield Sample((make(3), make.of(0, 1)), {"out_int32": True})


def buckets_of_number(make: Inputs) -> Iterator[Sample]:
    yield Sample((1, make.of(-2, 0, 0, 1, 3)))
    yield Sample((0.5, make.of(-2, 0, 0, 1, 3)), {"right": True, "out_int32": True})


def is_unsorted(boundaries: Input, sorter: Input | None = None) -> bool:
    values = boundaries.values
    if sorter is not None and sorter.values.shape == values.shape:
        values = np.take_along_axis(values, sorter.values % max(values.shape[-1], 1), -1)
    return bool((values.ndim > 0) and not (values[..., :-1] <= values[..., 1:]).all())


UNSORTED = "a search among numbers that are not sorted depends on how it goes"

UNSORTED_FIRST = Apart(UNSORTED, when=lambda sample: is_unsorted(sample.args[0], sample.kwargs.get("sorter")))

UNSORTED_SECOND = Apart(UNSORTED, when=lambda sample: is_unsorted(sample.args[1]))

ROWS = [
    row("searchsorted.Tensor", searches, dtypes=NUMBERS, apart=(UNSORTED_FIRST,)),
    row("searchsorted.Scalar", searches_of_number, dtypes=NUMBERS, apart=(UNSORTED_FIRST,)),
    row("bucketize.Tensor", buckets, dtypes=NUMBERS, apart=(UNSORTED_SECOND,)),
    row("bucketize.Scalar", buckets_of_number, dtypes=NUMBERS, out=False, apart=(UNSORTED_SECOND,)),
]
