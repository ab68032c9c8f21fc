"""Rows of orthogonal polynomials.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

from tests.op_db.core import DTYPES, Inputs, OpInfo, Sample
from tests.op_db.samples.special import module

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


ROWS = [
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
