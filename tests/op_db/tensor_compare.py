"""Rows of choices and clamping.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import DTYPES, FLOATS, INF, INTEGERS, NAN, Apart, Inputs, OpInfo, Sample
from tests.op_db.samples.indexing import VIEW, row
from tests.op_db.samples.unary import with_specials


def choices(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3, dtype="bool"), make(2, 3), make(2, 3)))
    yield Sample((make(301, dtype="bool"), make(301), make(301)))
    yield Sample((make(2, 1, dtype="bool"), make(3), make(4, 1, 1)))
    yield Sample((make(dtype="bool"), make(2, 3), make()))
    yield Sample((make(2, 3, dtype="bool"), make(2, 3), make(2, 3, dtype="float64")))
    yield Sample((make(2, 3, dtype="bool"), make(2, 3), 2.5))
    yield Sample((make(2, 3, dtype="bool"), 1, make(2, 3)))
    yield Sample((make(2, 3, dtype="bool"), 1, 2.5))
    yield Sample(
        (make(3, 4, dtype="bool", layout="transposed"), make(3, 4, layout="strided"), make(3, 4, layout="transposed"))
    )
    yield Sample((make(2, 3, dtype="int64"), make(2, 3), make(2, 3)))


def clamps(make: Inputs) -> Iterator[Sample]:
    for bounds in ({"min": -1}, {"max": 1.5}, {"min": -1, "max": 1}, {"min": 2, "max": -2}, {"min": 0.5}, {}):
        yield Sample((make(301),), bounds)
        yield Sample((make(3, 4, layout="transposed"),), bounds)


def clamps_by_tensors(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), make(2, 3), make(3)))
    yield Sample((make(2, 3),), {"min": make(2, 3)})
    yield Sample((make(2, 3),), {"max": make(2, 1)})
    yield Sample((make(2, 3),), {"min": make(2, 3, dtype="float64"), "max": make(3)})


def clamps_nan(make: Inputs) -> Iterator[Sample]:
    yield Sample((make.of(NAN, 0, INF, -INF, 2), make.of(-1), make.of(1)))
    yield Sample((make.of(NAN, 0, 1, 2), make.of(0, NAN, 0, 0), make.of(1, 1, NAN, 1)))


def one_bound(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), 0.5))
    yield Sample((make(2, 3), -1))


def one_bound_tensor(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), make(2, 3)))
    yield Sample((make(2, 3), make(3, dtype="float64")))


MASK = Apart("torch fills a mask smaller than the bounds in place", says="doesn't match the broadcast shape")


def nearly(make: Inputs) -> Iterator[Sample]:
    yield Sample((make.of(1, 2, NAN, INF, -INF, 1e-9, 3), make.of(1 + 1e-6, 2.1, NAN, INF, INF, 0, 3)))
    yield Sample((make.of(1, 2, NAN), make.of(1.05, 2.5, NAN)), {"rtol": 0.1, "atol": 0.0, "equal_nan": True})
    yield Sample((make(2, 3), make(2, 3)), {"rtol": 0.0, "atol": 0.0})
    yield Sample((make(2, 3), make(3)), {"atol": 3.0})
    yield Sample((make(2, 3), make(2, 3, dtype="float64")))
    yield Sample((make(2, 3), make(2, 3)), {"rtol": -1.0})


def same_or_not(make: Inputs) -> Iterator[Sample]:
    yield Sample((make.of(1, 2), make.of(1, 2)))
    yield Sample((make.of(1, 2), make.of(1, 3)))
    yield Sample((make.of(1, 2), make.of(1)))
    yield Sample((make.of(NAN), make.of(NAN)))
    yield Sample((make(0, 3), make(0, 3)))


def members(make: Inputs) -> Iterator[Sample]:
    for options in ({}, {"invert": True}, {"assume_unique": True}):
        yield Sample((make(3, 4), make(5)), options)
    yield Sample((make(3, 4, layout="transposed"), make(2, 2)))
    yield Sample((make(3), make(0)), {"invert": True})
    yield Sample((make(0), make(2)))
    yield Sample((make(), make(5)))
    yield Sample((make.of(NAN, 1), make.of(NAN, 1)))
    yield Sample((make(3), make(2, dtype="float64")))


def is_member(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(3, 4), 1))
    yield Sample((make(3), 2.5), {"invert": True})


def has_member(make: Inputs) -> Iterator[Sample]:
    yield Sample((1, make(3, 4)))
    yield Sample((2.5, make(3)), {"invert": True})


ROWS = [
    OpInfo("where.self", choices, dtypes=DTYPES, ref=np.where),
    OpInfo("clamp", clamps, dtypes=(*FLOATS, *INTEGERS)),
    OpInfo("clamp.Tensor", clamps_by_tensors, dtypes=(*FLOATS, *INTEGERS), apart=(MASK,)),
    OpInfo("clip", clamps, dtypes=(*FLOATS, *INTEGERS)),
    OpInfo("clip.Tensor", clamps_by_tensors, dtypes=(*FLOATS, *INTEGERS), apart=(MASK,)),
    OpInfo("clamp_min", one_bound, dtypes=(*FLOATS, *INTEGERS)),
    OpInfo("clamp_min.Tensor", one_bound_tensor, dtypes=(*FLOATS, *INTEGERS)),
    OpInfo("clamp_max", one_bound, dtypes=(*FLOATS, *INTEGERS)),
    OpInfo("clamp_max.Tensor", one_bound_tensor, dtypes=(*FLOATS, *INTEGERS)),
    OpInfo("isclose", nearly, dtypes=DTYPES),
    OpInfo("allclose", nearly, dtypes=DTYPES),
    OpInfo("equal", same_or_not, dtypes=DTYPES),
    OpInfo("isposinf", with_specials, dtypes=DTYPES, ref=np.isposinf),
    OpInfo("isneginf", with_specials, dtypes=DTYPES, ref=np.isneginf),
    OpInfo("isreal", with_specials, dtypes=DTYPES, ref=np.isreal),
    OpInfo("isnan", with_specials, dtypes=DTYPES, ref=np.isnan),
    OpInfo("isinf", with_specials, dtypes=DTYPES, ref=np.isinf),
    OpInfo("isfinite", with_specials, dtypes=DTYPES, ref=np.isfinite),
    OpInfo(
        "is_nonzero",
        lambda make: [Sample((make(1),)), Sample((make(),)), Sample((make(2),)), Sample((make(0),))],
        dtypes=DTYPES,
    ),
    # membership
    row("isin.Tensor_Tensor", members, apart=(VIEW,)),
    row("isin.Tensor_Scalar", is_member, apart=(VIEW,)),
    row("isin.Scalar_Tensor isin.Scalar_Tensor_out", has_member, apart=(VIEW,)),
]

# Values only.
SPECIAL = [
    OpInfo("clamp.Tensor", clamps_nan, dtypes=FLOATS),
    OpInfo(
        "clamp",
        lambda make: [Sample((make.of(1, 2, NAN), *bounds)) for bounds in ((NAN,), (None, NAN), (0, NAN), (NAN, 1))],
        dtypes=(*FLOATS, "int64"),
    ),
    OpInfo("clamp", lambda make: [Sample((make.of(NAN, 0, INF, -INF, 2), -1, 1))], dtypes=FLOATS),
]
