"""The docs of special functions of two numbers: igamma, zeta, xlog1py.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "igamma",
    r"""
Return the regularized lower incomplete gamma function, :math:`\frac{1}{\Gamma(a)} \int_0^x t^{a - 1} e^{-t} dt`, of
a = ``input`` and x = ``other``.

Args:
    other: the upper limit; nan if ``other`` or ``input`` is negative.

Shape: broadcastable -> their common shape.

Example:
    >>> torch.igamma(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 1.0]))
    tensor([0.6321, 0.2642])
""",
)

add_docstr(
    "igammac",
    """
Return the regularized upper incomplete gamma function, 1 - :func:`igamma`, accurate where the result is small.

Args:
    other: the lower limit; nan if ``other`` or ``input`` is negative.

Shape: broadcastable -> their common shape.

Example:
    >>> torch.igammac(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 1.0]))
    tensor([0.3679, 0.7358])
""",
)

add_docstr(
    "special_xlog1py",
    r"""
Return :math:`x \ln(1 + y)`; 0 if x is 0 and y is not nan: ``torch.special.xlog1py``.

Args:
    other: y.

Shape: broadcastable -> their common shape.

Example:
    >>> torch.special.xlog1py(torch.tensor([0.0, 2.0]), torch.tensor([-1.0, 1.0]))
    tensor([0.0000, 1.3863])
""",
)

add_docstr(
    "special_zeta",
    r"""
Return the Hurwitz zeta function, :math:`\sum_{k \ge 0} (k + q)^{-x}`: ``torch.special.zeta``.

Args:
    other: q.

Shape: broadcastable -> their common shape.

Example:
    >>> torch.special.zeta(torch.tensor([2.0, 4.0]), 1)
    tensor([1.6449, 1.0823])
""",
)
