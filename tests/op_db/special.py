"""Special functions of one tensor, and of two.

Mirrors: torch/testing/_internal/opinfo/definitions/special.py
Leaves out: complex inputs.
"""

import math
from collections.abc import Iterator

import numpy as np

from tests.op_db.binary_math import table
from tests.op_db.core import DTYPES, Inputs, OpInfo, Sample
from tests.op_db.unary import INF, NAN, elementwise

# From 88 to 91 torch's float Bessel functions are infinite already, where ours are not yet.
_SPECIALS = (0.0, -0.0, 1, -1, 0.5, 0.999, 1.5, 2.5, -0.5, -1.5, -2.7, INF, -INF, NAN, 1e-30, 12, 30, -40.5, 700)


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


def vectorized(function: object) -> object:
    return np.vectorize(function, otypes=[float])


def module(name: str) -> object:
    return lambda lib, *args, **kwargs: getattr(lib.special, name)(*args, **kwargs)


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

BESSEL = (
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "spherical_bessel_j0",
)
POLYNOMIALS = (
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
)


def points_and_degrees(make: Inputs) -> Iterator[Sample]:
    for degree in (0, 1, 2, 5, 12):
        yield Sample((make(2, 3), make.of(degree, degree, degree)))
    yield Sample((make(3, 4, layout="transposed"), make.of(3)))
    yield Sample((make(0, 3), make.of(2, 2, 2)))
    yield Sample((make(2), make.of(3, 1, 2)))  # shapes that do not fit


def points_and_degree(make: Inputs) -> Iterator[Sample]:
    for degree in (0, 1, 3, 10, -1):
        yield Sample((make(2, 3), degree))


def point_and_degrees(make: Inputs) -> Iterator[Sample]:
    yield Sample((0.75, make.of(2, 0, 3)))
    yield Sample((-2, make.of(3, 1)))


ROWS += [
    *(
        # Beside a zero of the function few digits agree.
        OpInfo(f"special_{name}", elementwise, dtypes=DTYPES, low=0.1, high=20, call=module(name), rtol=1e-4)
        for name in BESSEL
    ),
    *(
        OpInfo(f"special_{name}{overload}", samples, dtypes=DTYPES, low=-1.5, high=1.5, call=module(name))
        for name in POLYNOMIALS
        for overload, samples in (
            ("", points_and_degrees),
            (f".x_scalar special_{name}.x_scalar_out", point_and_degrees),
            (".n_scalar", points_and_degree),
        )
    ),
]

# Poles, ends of the domain, overflow: values only.
SPECIAL = [
    *(
        OpInfo(row.ops, lambda make: [Sample((make.of(*_SPECIALS),))], dtypes=DTYPES, call=row.call, rtol=row.rtol)
        for row in ROWS
        if row.ops not in ("logit", "polygamma", "mvlgamma") and row.samples is elementwise
    ),
    OpInfo("logit", bounded_extremes, dtypes=DTYPES),
    OpInfo("polygamma", orders_extremes, dtypes=DTYPES, rtol=1e-3),
    OpInfo("igamma", table(0, 0.5, 1, 30, 1000, INF, NAN, -1)),
    OpInfo("igammac", table(0, 0.5, 1, 30, 1000, INF, NAN, -1)),
    OpInfo("special_xlog1py", table(0, -1, 1, -2, INF, NAN), dtypes=DTYPES, call=module("xlog1py")),
    OpInfo("special_zeta", table(0, 0.5, 1, 2, 3.5, -1, -2.5, INF, NAN), dtypes=DTYPES, call=module("zeta")),
]
