"""Rows of comparisons, logical and bitwise ops, and shifts.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import DTYPES, INF, INTEGERS, NAN, Inputs, OpInfo, Sample
from tests.op_db.samples.binary import mixed_dtypes, numbers, pairs
from tests.op_db.samples.binary_math import number_first, with_number


def shifts(make: Inputs) -> Iterator[Sample]:
    yield from pairs(make, low=0)
    if make.dtype in INTEGERS:
        distances = make(8)
        distances.values[:] = (0, 1, 3, 7, 8, 31, 64, 100)
        yield Sample((make(8), distances))
        if make.dtype != "uint8":
            yield Sample((make(3), make.of(-1, -2, -3)))
    yield Sample((make(2, 3), make(2, 3, dtype="int64", low=0)))


def shift_by_number(make: Inputs) -> Iterator[Sample]:
    for distance in (0, 1, 9, True):
        yield Sample((make(2, 3), distance))


def comparisons(make: Inputs) -> Iterator[Sample]:
    yield from pairs(make)
    yield from mixed_dtypes(make)
    yield from numbers(make)
    yield Sample((make.of(0.0, 1, NAN, INF, -INF, NAN), make.of(-0.0, 1, NAN, INF, 2, 1)))


def truths(make: Inputs) -> Iterator[Sample]:
    yield from pairs(make)
    yield from mixed_dtypes(make)
    yield Sample((make.of(0.0, 1, NAN, 0), make.of(0, 0, 0, NAN)))


def to_number(make: Inputs) -> Iterator[Sample]:
    for number in (2, 2.5, True, -300, 1e30, INF, NAN):
        yield Sample((make(2, 3), number))
        yield Sample((make(), number))
        yield Sample((make(3, 4, layout="transposed"), number))


NAMES = {"ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}

ROWS = [
    OpInfo("bitwise_left_shift.Tensor", shifts, dtypes=INTEGERS),
    OpInfo("bitwise_right_shift.Tensor", shifts, dtypes=INTEGERS),
    OpInfo("bitwise_left_shift.Tensor_Scalar", shift_by_number, dtypes=INTEGERS),
    OpInfo("bitwise_right_shift.Tensor_Scalar", shift_by_number, dtypes=INTEGERS),
    *(
        OpInfo(f"{name}.Scalar_Tensor", number_first, dtypes=INTEGERS, low=0)
        for name in ("bitwise_left_shift", "bitwise_right_shift", "bitwise_and", "bitwise_or", "bitwise_xor")
    ),
    *(OpInfo(f"{name}.Scalar", with_number, dtypes=INTEGERS) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")),
    *(OpInfo(f"{name}.Scalar", to_number, dtypes=DTYPES) for name in ("eq", *NAMES, *NAMES.values())),
    *(OpInfo(f"{name}.Tensor", comparisons, dtypes=DTYPES) for name in NAMES.values()),
    *(
        OpInfo(f"{name}.Tensor", comparisons, dtypes=DTYPES, ref=ref)
        for name, ref in (
            ("eq", np.equal),
            ("ne", np.not_equal),
            ("lt", np.less),
            ("le", np.less_equal),
            ("gt", np.greater),
            ("ge", np.greater_equal),
        )
    ),
    *(
        OpInfo(name, truths, dtypes=DTYPES, ref=getattr(np, name))
        for name in ("logical_and", "logical_or", "logical_xor")
    ),
    *(
        OpInfo(f"{name}.Tensor", arithmetic, dtypes=(*INTEGERS, "bool"), ref=getattr(np, name))
        for name, arithmetic in (("bitwise_and", pairs), ("bitwise_or", pairs), ("bitwise_xor", pairs))
    ),
]
