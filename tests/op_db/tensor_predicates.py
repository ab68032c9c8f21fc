"""Rows of questions about numbers and tensors: nan, infinite, close, equal.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import DTYPES, INF, NAN, Inputs, OpInfo, Sample
from tests.op_db.samples.unary import elementwise, with_specials


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


ROWS = [
    OpInfo("isclose", nearly, dtypes=DTYPES),
    OpInfo("allclose", nearly, dtypes=DTYPES),
    OpInfo("equal", same_or_not, dtypes=DTYPES),
    OpInfo("isposinf", with_specials, dtypes=DTYPES, ref=np.isposinf),
    OpInfo("isneginf", with_specials, dtypes=DTYPES, ref=np.isneginf),
    OpInfo("isreal", with_specials, dtypes=DTYPES, ref=np.isreal),
    OpInfo("real", elementwise, dtypes=DTYPES),
    OpInfo("conj", elementwise, dtypes=DTYPES),
    OpInfo("conj_physical conj_physical.out", elementwise, dtypes=DTYPES),
    OpInfo("resolve_conj", elementwise, dtypes=DTYPES),
    OpInfo("resolve_neg", elementwise, dtypes=DTYPES),
    OpInfo("isnan", with_specials, dtypes=DTYPES, ref=np.isnan),
    OpInfo("isinf", with_specials, dtypes=DTYPES, ref=np.isinf),
    OpInfo("isfinite", with_specials, dtypes=DTYPES, ref=np.isfinite),
    OpInfo(
        "is_nonzero",
        lambda make: [Sample((make(1),)), Sample((make(),)), Sample((make(2),)), Sample((make(0),))],
        dtypes=DTYPES,
    ),
]
