"""The docs of orthogonal polynomials.

Mirrors: torch/special/__init__.py (chebyshev_polynomial_t, ..., shifted_chebyshev_polynomial_w)
"""

from reftorch._torch_docs._entries import add_docstr


def _polynomial(name: str, what: str, formula: str, values: str) -> str:
    """Return the text of one family; ``values`` are the values of degree 2 at 0.5 and 2."""
    return f"""
Return the {what} of degree n at each point
(``torch.special.{name}``). It has no derivative.

:math:`{formula}`.

Args:
    x: the points; a number or a tensor.
    n: the degree, a number or a tensor; it is rounded towards 0. For a negative degree the result is 0.

Shape: broadcast(``x``, ``n``).

Example:
    >>> torch.special.{name}(torch.tensor([0.5, 2.0]), 2)
    tensor({values})
"""


add_docstr(
    "special_chebyshev_polynomial_t",
    _polynomial(
        "chebyshev_polynomial_t",
        "Chebyshev polynomial of the first kind",
        r"T_n(x) = \cos(n \arccos x)",
        "[-0.5000,  7.0000]",
    ),
)
add_docstr(
    "special_chebyshev_polynomial_u",
    _polynomial(
        "chebyshev_polynomial_u",
        "Chebyshev polynomial of the second kind",
        r"U_n(x) = \sin((n + 1) \theta) / \sin\theta, x = \cos\theta",
        "[ 0., 15.]",
    ),
)
add_docstr(
    "special_chebyshev_polynomial_v",
    _polynomial(
        "chebyshev_polynomial_v",
        "Chebyshev polynomial of the third kind",
        r"V_n(x) = \cos((n + \frac12) \theta) / \cos\frac\theta2, x = \cos\theta",
        "[-1., 11.]",
    ),
)
add_docstr(
    "special_chebyshev_polynomial_w",
    _polynomial(
        "chebyshev_polynomial_w",
        "Chebyshev polynomial of the fourth kind",
        r"W_n(x) = \sin((n + \frac12) \theta) / \sin\frac\theta2, x = \cos\theta",
        "[ 1., 19.]",
    ),
)
add_docstr(
    "special_hermite_polynomial_h",
    _polynomial(
        "hermite_polynomial_h",
        "Hermite polynomial as physicists write it",
        r"H_{n+1} = 2 x H_n - 2 n H_{n-1}",
        "[-1., 14.]",
    ),
)
add_docstr(
    "special_hermite_polynomial_he",
    _polynomial(
        "hermite_polynomial_he",
        "Hermite polynomial of probability theory",
        r"He_{n+1} = x He_n - n He_{n-1}",
        "[-0.7500,  3.0000]",
    ),
)
add_docstr(
    "special_laguerre_polynomial_l",
    _polynomial(
        "laguerre_polynomial_l",
        "Laguerre polynomial",
        r"(n + 1) L_{n+1} = (2 n + 1 - x) L_n - n L_{n-1}",
        "[ 0.1250, -1.0000]",
    ),
)
add_docstr(
    "special_legendre_polynomial_p",
    _polynomial(
        "legendre_polynomial_p",
        "Legendre polynomial",
        r"(n + 1) P_{n+1} = (2 n + 1) x P_n - n P_{n-1}",
        "[-0.1250,  5.5000]",
    ),
)
add_docstr(
    "special_shifted_chebyshev_polynomial_t",
    _polynomial(
        "shifted_chebyshev_polynomial_t",
        "Chebyshev polynomial of the first kind for [0, 1]",
        r"T_n(2 x - 1)",
        "[-1., 17.]",
    ),
)
add_docstr(
    "special_shifted_chebyshev_polynomial_u",
    _polynomial(
        "shifted_chebyshev_polynomial_u",
        "Chebyshev polynomial of the second kind for [0, 1]",
        r"U_n(2 x - 1)",
        "[-1., 35.]",
    ),
)
add_docstr(
    "special_shifted_chebyshev_polynomial_v",
    _polynomial(
        "shifted_chebyshev_polynomial_v",
        "Chebyshev polynomial of the third kind for [0, 1]",
        r"V_n(2 x - 1)",
        "[-1., 29.]",
    ),
)
add_docstr(
    "special_shifted_chebyshev_polynomial_w",
    _polynomial(
        "shifted_chebyshev_polynomial_w",
        "Chebyshev polynomial of the fourth kind for [0, 1]",
        r"W_n(2 x - 1)",
        "[-1., 41.]",
    ),
)
