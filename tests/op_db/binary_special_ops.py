"""Rows of special functions of two numbers: igamma, zeta, xlog1py.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import DTYPES, INF, NAN, Inputs, OpInfo, Sample
from tests.op_db.samples.binary_math import table
from tests.op_db.samples.special import module


def orders_and_points(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), make(2, 3)))
    yield Sample((make(3, 1), make(4)))
    yield Sample((make(), make(3, 4, layout="transposed")))


def number_and_points(make: Inputs) -> Iterator[Sample]:
    for number in (2, 2.5):
        yield Sample((number, make(2, 3)))


def orders_and_number(make: Inputs) -> Iterator[Sample]:
    for number in (2, 2.5):
        yield Sample((make(2, 3), number))


# Neither library has a slope in the order.
NO_ORDER = {"torch_gradient": False, "gradcheck": False}

ROWS = [
    # of two tensors
    OpInfo("igamma", orders_and_points, low=0.3, high=9, **NO_ORDER),
    OpInfo("igammac", orders_and_points, low=0.3, high=9, **NO_ORDER),
    *(
        OpInfo("special_zeta" + overload, samples, dtypes=DTYPES, low=1.1, high=6, call=module("zeta"), **slopes)
        for overload, samples, slopes in (
            ("", orders_and_points, NO_ORDER),
            (".self_scalar special_zeta.self_scalar_out", number_and_points, {}),
            (".other_scalar", orders_and_number, NO_ORDER),
        )
    ),
    *(
        OpInfo("special_xlog1py" + overload, samples, dtypes=DTYPES, low=-0.9, call=module("xlog1py"))
        for overload, samples in (
            ("", orders_and_points),
            (".self_scalar special_xlog1py.self_scalar_out", number_and_points),
            (".other_scalar", orders_and_number),
        )
    ),
]

# Values only.
SPECIAL = [
    OpInfo("igamma", table(0, 0.5, 1, 30, 1000, INF, NAN, -1)),
    OpInfo("igammac", table(0, 0.5, 1, 30, 1000, INF, NAN, -1)),
    OpInfo("special_xlog1py", table(0, -1, 1, -2, INF, NAN), dtypes=DTYPES, call=module("xlog1py")),
    OpInfo("special_zeta", table(0, 0.5, 1, 2, 3.5, -1, -2.5, INF, NAN), dtypes=DTYPES, call=module("zeta")),
]
