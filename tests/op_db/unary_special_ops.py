"""Rows of special functions of one number.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

import math
from collections.abc import Iterator

import numpy as np

from tests.op_db.core import DTYPES, INF, NAN, Inputs, OpInfo, Sample
from tests.op_db.samples.special import SPECIAL_POINTS, module
from tests.op_db.samples.unary import elementwise


def bounded(make: Inputs) -> Iterator[Sample]:
    yield from elementwise(make)
    for eps in (0.25, 0.0625, -1.0, None):
        yield Sample((make(301), eps))
        yield Sample((make(3, 4, layout="transposed"),), {"eps": eps})


def bounded_extremes(make: Inputs) -> Iterator[Sample]:
    for eps in (None, 0.1, 0.6, -1.0):
        yield Sample((make.of(0.0, 1, -1, 2, 0.5, NAN, INF, -INF), eps))


def orders(make: Inputs) -> Iterator[Sample]:
    for n in (0, 1, 2, 3, 5):
        yield Sample((n, make(2, 3)))
        yield Sample((n, make(3, 4, layout="transposed")))
    yield Sample((1, make()))
    yield Sample((-1, make(2)))


def orders_extremes(make: Inputs) -> Iterator[Sample]:
    for n in (0, 1, 2, 3):
        yield Sample((n, make.of(0.0, 0.1, -0.5, -1.5, -2.7, NAN, INF, 12, 30)))


def vectorized(function: object) -> object:
    return np.vectorize(function, otypes=[float])


ROWS = [
    OpInfo("erf", elementwise, dtypes=DTYPES, ref=vectorized(math.erf)),
    OpInfo("erfc", elementwise, dtypes=DTYPES, ref=vectorized(math.erfc)),
    OpInfo("erfinv", elementwise, dtypes=DTYPES, low=-0.95, high=0.95),
    OpInfo("logit", bounded, dtypes=DTYPES, low=0.05, high=1),
    OpInfo("sinc", elementwise, dtypes=DTYPES, low=0.1, ref=np.sinc),
    OpInfo("lgamma", elementwise, dtypes=DTYPES, low=0.2, high=5, ref=vectorized(math.lgamma)),
    OpInfo("digamma", elementwise, dtypes=DTYPES, low=0.2, high=5),
    OpInfo(
        "polygamma",
        orders,
        dtypes=DTYPES,
        low=0.3,
        high=5,
        rtol=1e-4,
    ),
    OpInfo(
        "mvlgamma",
        lambda make: [Sample((make(*shape), p)) for p in (1, 2, 4) for shape in ((2, 3), (), (301,))],
        dtypes=DTYPES,
        low=2,
        high=6,
    ),
    OpInfo("i0", elementwise, dtypes=DTYPES, high=20, ref=np.i0),
    OpInfo("special_i0e", elementwise, dtypes=DTYPES, low=0.1, high=20, call=module("i0e")),
    OpInfo("special_i1", elementwise, dtypes=DTYPES, high=20, call=module("i1")),
    OpInfo("special_i1e", elementwise, dtypes=DTYPES, low=0.1, high=20, call=module("i1e")),
    OpInfo("special_entr", elementwise, dtypes=DTYPES, low=0.1, call=module("entr")),
    OpInfo("special_erfcx", elementwise, dtypes=DTYPES, call=module("erfcx")),
    OpInfo("special_ndtr", elementwise, dtypes=DTYPES, call=module("ndtr")),
    OpInfo("special_log_ndtr", elementwise, dtypes=DTYPES, low=-9, call=module("log_ndtr")),
    OpInfo("special_ndtri", elementwise, dtypes=DTYPES, low=0, high=1, call=module("ndtri")),
]

# Values only.
SPECIAL = [
    *(
        OpInfo(row.ops, lambda make: [Sample((make.of(*SPECIAL_POINTS),))], dtypes=DTYPES, call=row.call, rtol=row.rtol)
        for row in ROWS
        if row.ops not in ("logit", "polygamma", "mvlgamma") and row.samples is elementwise
    ),
    OpInfo("logit", bounded_extremes, dtypes=DTYPES),
    OpInfo("polygamma", orders_extremes, dtypes=DTYPES, rtol=1e-3),
]
