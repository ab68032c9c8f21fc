"""Marks of ops that have no derivative: orthogonal polynomials.

Mirrors: tools/autograd/derivatives.yaml (special_chebyshev_polynomial_t, special_chebyshev_polynomial_u, ...)
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import non_differentiable

for _family in (
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
):
    non_differentiable(f"special_{_family}", f"special_{_family}.x_scalar", f"special_{_family}.n_scalar")
