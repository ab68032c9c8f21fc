"""The docs of special functions of one number.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "logit",
    r"""
Return :math:`\ln(x / (1 - x))` of each element: the inverse of :func:`sigmoid`.

Args:
    eps: clamp the elements to [eps, 1 - eps] first; without ``eps``, elements outside [0, 1] give nan.

Shape: the shape of ``input``.

Example:
    >>> torch.logit(torch.tensor([0.5, 0.9]))
    tensor([0.0000, 2.1972])
""",
)

add_docstr(
    "sinc",
    r"""
Return :math:`\sin(\pi x) / (\pi x)` of each element; 1 at 0.

Shape: the shape of ``input``.

Example:
    >>> torch.sinc(torch.tensor([0.0, 0.5, 2.5]))
    tensor([1.0000, 0.6366, 0.1273])
""",
)

add_docstr(
    "erf",
    r"""
Return the error function of each element, :math:`\frac{2}{\sqrt\pi} \int_0^x e^{-t^2} dt`.

Shape: the shape of ``input``.

Example:
    >>> torch.erf(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8427])
""",
)

add_docstr(
    "erfc",
    """
Return :math:`1 - erf(x)` of each element, accurate where the result is small.

Shape: the shape of ``input``.

Example:
    >>> torch.erfc(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.1573])
""",
)

add_docstr(
    "erfinv",
    """
Return the inverse of the error function at each element: infinite at -1 and 1, nan outside [-1, 1].

Shape: the shape of ``input``.

Example:
    >>> torch.erfinv(torch.tensor([0.0, 0.5]))
    tensor([0.0000, 0.4769])
""",
)

add_docstr(
    "lgamma",
    r"""
Return the logarithm of the absolute value of the gamma function, :math:`\ln |\Gamma(x)|`.

Shape: the shape of ``input``.

Example:
    >>> torch.lgamma(torch.tensor([1.0, 5.0]))
    tensor([0.0000, 3.1781])
""",
)

add_docstr(
    "digamma",
    r"""
Return the derivative of :math:`\ln \Gamma(x)` at each element.

Shape: the shape of ``input``.

Example:
    >>> torch.digamma(torch.tensor([1.0, 2.0]))
    tensor([-0.5772,  0.4228])
""",
)

add_docstr(
    "polygamma",
    """
Return the n-th derivative of :func:`digamma` at each element. The method is ``x.polygamma(n)``.

Args:
    n: the order, 0 or more.

Shape: the shape of ``input``.

Raises:
    RuntimeError: ``n`` is negative.

Example:
    >>> torch.polygamma(1, torch.tensor([1.0, 2.0]))
    tensor([1.6449, 0.6449])
""",
)

add_docstr(
    "mvlgamma",
    r"""
Return the logarithm of the multivariate gamma function of dimension ``p``: :math:`\frac{p(p-1)}{4} \ln \pi +
\sum_{i=0}^{p-1} \ln \Gamma(x - i/2)`.

Args:
    p: the number of dimensions, 1 or more.

Shape: the shape of ``input``.

Raises:
    RuntimeError: ``p`` is not positive.

Example:
    >>> torch.mvlgamma(torch.tensor([2.0, 3.0]), 2)
    tensor([0.4516, 1.5502])
""",
)

add_docstr(
    "i0",
    """
Return the modified Bessel function of the first kind, of order 0.

Shape: the shape of ``input``.

Example:
    >>> torch.i0(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 1.2661])
""",
)

add_docstr(
    "special_i0e",
    """
Return :math:`e^{-|x|} I_0(x)`, which does not overflow; its public name is ``torch.special.i0e``.

Shape: the shape of ``input``.

Example:
    >>> torch.special.i0e(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.4658])
""",
)

add_docstr(
    "special_i1",
    """
Return the modified Bessel function of the first kind, of order 1; its public name is ``torch.special.i1``.

Shape: the shape of ``input``.

Example:
    >>> torch.special.i1(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.5652])
""",
)

add_docstr(
    "special_i1e",
    """
Return :math:`e^{-|x|} I_1(x)`, which does not overflow; its public name is ``torch.special.i1e``.

Shape: the shape of ``input``.

Example:
    >>> torch.special.i1e(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.2079])
""",
)

add_docstr(
    "special_entr",
    r"""
Return :math:`-x \ln x` of each element; 0 at 0, -inf for negative elements: ``torch.special.entr``.

Shape: the shape of ``input``.

Example:
    >>> torch.special.entr(torch.tensor([0.0, 0.5, 1.0]))
    tensor([0.0000, 0.3466, -0.0000])
""",
)

add_docstr(
    "special_erfcx",
    """
Return :math:`e^{x^2} erfc(x)` of each element, which does not underflow for large elements: ``torch.special.erfcx``.

Shape: the shape of ``input``.

Example:
    >>> torch.special.erfcx(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.4276])
""",
)

add_docstr(
    "special_ndtr",
    """
Return the probability that a standard normal variable is below each element: ``torch.special.ndtr``.

Shape: the shape of ``input``.

Example:
    >>> torch.special.ndtr(torch.tensor([0.0, 1.0]))
    tensor([0.5000, 0.8413])
""",
)

add_docstr(
    "special_log_ndtr",
    """
Return the logarithm of :func:`special_ndtr`, accurate for elements far below 0: ``torch.special.log_ndtr``.

Shape: the shape of ``input``.

Example:
    >>> torch.special.log_ndtr(torch.tensor([0.0, -20.0]))
    tensor([  -0.6931, -203.9172])
""",
)

add_docstr(
    "special_ndtri",
    """
Return the inverse of :func:`special_ndtr` at each element; nan outside [0, 1]: ``torch.special.ndtri``.

Shape: the shape of ``input``.

Example:
    >>> torch.special.ndtri(torch.tensor([0.5, 0.8413]))
    tensor([0.0000, 0.9998])
""",
)
