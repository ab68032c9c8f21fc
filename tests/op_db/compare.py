"""Comparisons, truth values, bits, choices, clamping.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.binary import mixed_dtypes, numbers, pairs
from tests.op_db.core import DTYPES, FLOATS, INTEGERS, Apart, Inputs, OpInfo, Sample

NAN, INF = float("nan"), float("inf")


def comparisons(make: Inputs) -> Iterator[Sample]:
    yield from pairs(make)
    yield from mixed_dtypes(make)
    yield from numbers(make)
    yield Sample((make.of(0.0, 1, NAN, INF, -INF, NAN), make.of(-0.0, 1, NAN, INF, 2, 1)))


def truths(make: Inputs) -> Iterator[Sample]:
    yield from pairs(make)
    yield from mixed_dtypes(make)
    yield Sample((make.of(0.0, 1, NAN, 0), make.of(0, 0, 0, NAN)))


def extremes(make: Inputs) -> Iterator[Sample]:
    yield from pairs(make)
    yield from mixed_dtypes(make)


def with_ties_and_nan(make: Inputs) -> Iterator[Sample]:
    yield from extremes(make)
    yield Sample((make.of(1, 2, NAN, 3, NAN, -INF), make.of(1, 3, 0, NAN, NAN, 5)))


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


def to_number(make: Inputs) -> Iterator[Sample]:
    for number in (2, 2.5, True, -300, 1e30, INF, NAN):
        yield Sample((make(2, 3), number))
        yield Sample((make(), number))
        yield Sample((make(3, 4, layout="transposed"), number))


NAMES = {"ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}


MASK = Apart("torch fills a mask smaller than the bounds in place", says="doesn't match the broadcast shape")
ROWS = [
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
    OpInfo("maximum", extremes, dtypes=DTYPES, ref=np.maximum),
    OpInfo("minimum", extremes, dtypes=DTYPES, ref=np.minimum),
    OpInfo("max.other max.other_out", extremes, dtypes=DTYPES, ref=np.maximum),
    OpInfo("min.other min.other_out", extremes, dtypes=DTYPES, ref=np.minimum),
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
]

# NaN and ties, without gradients.
SPECIAL = [
    OpInfo("maximum", with_ties_and_nan, dtypes=FLOATS),
    OpInfo("minimum", with_ties_and_nan, dtypes=FLOATS),
    OpInfo("clamp.Tensor", clamps_nan, dtypes=FLOATS),
    OpInfo(
        "clamp",
        lambda make: [Sample((make.of(1, 2, NAN), *bounds)) for bounds in ((NAN,), (None, NAN), (0, NAN), (NAN, 1))],
        dtypes=(*FLOATS, "int64"),
    ),
    OpInfo("clamp", lambda make: [Sample((make.of(NAN, 0, INF, -INF, 2), -1, 1))], dtypes=FLOATS),
]
