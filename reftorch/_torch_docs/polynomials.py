"""Orthogonal polynomials.

Mirrors: torch/special/__init__.py (chebyshev_polynomial_t, ..., shifted_chebyshev_polynomial_w)
Leaves out: nothing.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "special_chebyshev_polynomial_t",
    r"""
Return the Chebyshev polynomial of the first kind of degree n at each point
(``torch.special.chebyshev_polynomial_t``). It has no derivative.

:math:`T_n(x) = \cos(n \arccos x)`.

Args:
    x: the points; a number or a tensor.
    n: the degree, of which a fraction is cut off; a number or a tensor. Below 0 the answer is 0.

Shape: that to which ``x`` and ``n`` broadcast.

Example:
    >>> torch.special.chebyshev_polynomial_t(torch.tensor([0.5, 2.0]), 2)
    tensor([-0.5000,  7.0000])
""",
)

add_docstr(
    "special_chebyshev_polynomial_u",
    r"""
Return the Chebyshev polynomial of the second kind of degree n at each point
(``torch.special.chebyshev_polynomial_u``). It has no derivative.

:math:`U_n(x) = \sin((n + 1) \theta) / \sin\theta, x = \cos\theta`.

Args:
    x: the points; a number or a tensor.
    n: the degree, of which a fraction is cut off; a number or a tensor. Below 0 the answer is 0.

Shape: that to which ``x`` and ``n`` broadcast.

Example:
    >>> torch.special.chebyshev_polynomial_u(torch.tensor([0.5, 2.0]), 2)
    tensor([ 0., 15.])
""",
)

add_docstr(
    "special_chebyshev_polynomial_v",
    r"""
Return the Chebyshev polynomial of the third kind of degree n at each point
(``torch.special.chebyshev_polynomial_v``). It has no derivative.

:math:`V_n(x) = \cos((n + \frac12) \theta) / \cos\frac\theta2, x = \cos\theta`.

Args:
    x: the points; a number or a tensor.
    n: the degree, of which a fraction is cut off; a number or a tensor. Below 0 the answer is 0.

Shape: that to which ``x`` and ``n`` broadcast.

Example:
    >>> torch.special.chebyshev_polynomial_v(torch.tensor([0.5, 2.0]), 2)
    tensor([-1., 11.])
""",
)

add_docstr(
    "special_chebyshev_polynomial_w",
    r"""
Return the Chebyshev polynomial of the fourth kind of degree n at each point
(``torch.special.chebyshev_polynomial_w``). It has no derivative.

:math:`W_n(x) = \sin((n + \frac12) \theta) / \sin\frac\theta2, x = \cos\theta`.

Args:
    x: the points; a number or a tensor.
    n: the degree, of which a fraction is cut off; a number or a tensor. Below 0 the answer is 0.

Shape: that to which ``x`` and ``n`` broadcast.

Example:
    >>> torch.special.chebyshev_polynomial_w(torch.tensor([0.5, 2.0]), 2)
    tensor([ 1., 19.])
""",
)

add_docstr(
    "special_hermite_polynomial_h",
    r"""
Return the Hermite polynomial as physicists write it of degree n at each point
(``torch.special.hermite_polynomial_h``). It has no derivative.

:math:`H_{n+1} = 2 x H_n - 2 n H_{n-1}`.

Args:
    x: the points; a number or a tensor.
    n: the degree, of which a fraction is cut off; a number or a tensor. Below 0 the answer is 0.

Shape: that to which ``x`` and ``n`` broadcast.

Example:
    >>> torch.special.hermite_polynomial_h(torch.tensor([0.5, 2.0]), 2)
    tensor([-1., 14.])
""",
)

add_docstr(
    "special_hermite_polynomial_he",
    r"""
Return the Hermite polynomial of probability theory of degree n at each point
(``torch.special.hermite_polynomial_he``). It has no derivative.

:math:`He_{n+1} = x He_n - n He_{n-1}`.

Args:
    x: the points; a number or a tensor.
    n: the degree, of which a fraction is cut off; a number or a tensor. Below 0 the answer is 0.

Shape: that to which ``x`` and ``n`` broadcast.

Example:
    >>> torch.special.hermite_polynomial_he(torch.tensor([0.5, 2.0]), 2)
    tensor([-0.7500,  3.0000])
""",
)

add_docstr(
    "special_laguerre_polynomial_l",
    r"""
Return the Laguerre polynomial of degree n at each point
(``torch.special.laguerre_polynomial_l``). It has no derivative.

:math:`(n + 1) L_{n+1} = (2 n + 1 - x) L_n - n L_{n-1}`.

Args:
    x: the points; a number or a tensor.
    n: the degree, of which a fraction is cut off; a number or a tensor. Below 0 the answer is 0.

Shape: that to which ``x`` and ``n`` broadcast.

Example:
    >>> torch.special.laguerre_polynomial_l(torch.tensor([0.5, 2.0]), 2)
    tensor([ 0.1250, -1.0000])
""",
)

add_docstr(
    "special_legendre_polynomial_p",
    r"""
Return the Legendre polynomial of degree n at each point
(``torch.special.legendre_polynomial_p``). It has no derivative.

:math:`(n + 1) P_{n+1} = (2 n + 1) x P_n - n P_{n-1}`.

Args:
    x: the points; a number or a tensor.
    n: the degree, of which a fraction is cut off; a number or a tensor. Below 0 the answer is 0.

Shape: that to which ``x`` and ``n`` broadcast.

Example:
    >>> torch.special.legendre_polynomial_p(torch.tensor([0.5, 2.0]), 2)
    tensor([-0.1250,  5.5000])
""",
)

add_docstr(
    "special_shifted_chebyshev_polynomial_t",
    r"""
Return the Chebyshev polynomial of the first kind for [0, 1] of degree n at each point
(``torch.special.shifted_chebyshev_polynomial_t``). It has no derivative.

:math:`T_n(2 x - 1)`.

Args:
    x: the points; a number or a tensor.
    n: the degree, of which a fraction is cut off; a number or a tensor. Below 0 the answer is 0.

Shape: that to which ``x`` and ``n`` broadcast.

Example:
    >>> torch.special.shifted_chebyshev_polynomial_t(torch.tensor([0.5, 2.0]), 2)
    tensor([-1., 17.])
""",
)

add_docstr(
    "special_shifted_chebyshev_polynomial_u",
    r"""
Return the Chebyshev polynomial of the second kind for [0, 1] of degree n at each point
(``torch.special.shifted_chebyshev_polynomial_u``). It has no derivative.

:math:`U_n(2 x - 1)`.

Args:
    x: the points; a number or a tensor.
    n: the degree, of which a fraction is cut off; a number or a tensor. Below 0 the answer is 0.

Shape: that to which ``x`` and ``n`` broadcast.

Example:
    >>> torch.special.shifted_chebyshev_polynomial_u(torch.tensor([0.5, 2.0]), 2)
    tensor([-1., 35.])
""",
)

add_docstr(
    "special_shifted_chebyshev_polynomial_v",
    r"""
Return the Chebyshev polynomial of the third kind for [0, 1] of degree n at each point
(``torch.special.shifted_chebyshev_polynomial_v``). It has no derivative.

:math:`V_n(2 x - 1)`.

Args:
    x: the points; a number or a tensor.
    n: the degree, of which a fraction is cut off; a number or a tensor. Below 0 the answer is 0.

Shape: that to which ``x`` and ``n`` broadcast.

Example:
    >>> torch.special.shifted_chebyshev_polynomial_v(torch.tensor([0.5, 2.0]), 2)
    tensor([-1., 29.])
""",
)

add_docstr(
    "special_shifted_chebyshev_polynomial_w",
    r"""
Return the Chebyshev polynomial of the fourth kind for [0, 1] of degree n at each point
(``torch.special.shifted_chebyshev_polynomial_w``). It has no derivative.

:math:`W_n(2 x - 1)`.

Args:
    x: the points; a number or a tensor.
    n: the degree, of which a fraction is cut off; a number or a tensor. Below 0 the answer is 0.

Shape: that to which ``x`` and ``n`` broadcast.

Example:
    >>> torch.special.shifted_chebyshev_polynomial_w(torch.tensor([0.5, 2.0]), 2)
    tensor([-1., 41.])
""",
)
