"""Functions of one number: signs, powers, exponentials, logarithms.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "neg",
    """
Return the negative of each element.

Shape: the shape of ``input``.

Raises:
    RuntimeError: the tensor is boolean: use ``~`` or :func:`logical_not`.

Example:
    >>> torch.neg(torch.tensor([1.0, -2.0]))
    tensor([-1.,  2.])
""",
)

add_docstr(
    "positive",
    """
Return ``input`` itself, as ``+x`` does.

Shape: the shape of ``input``; the result is a view of it.

Raises:
    RuntimeError: the tensor is boolean.

Example:
    >>> torch.positive(torch.tensor([1.0, -2.0]))
    tensor([ 1., -2.])
""",
)

add_docstr(
    "abs",
    """
Return the absolute value of each element.

Shape: the shape of ``input``.

Example:
    >>> torch.abs(torch.tensor([-1.5, 2.0]))
    tensor([1.5000, 2.0000])
""",
)

add_docstr(
    "sign",
    """
Return the sign of each element: -1, 0 or 1. The sign of nan is 0.

Shape: the shape of ``input``.

Example:
    >>> torch.sign(torch.tensor([-1.5, 0.0, 2.0]))
    tensor([-1.,  0.,  1.])
""",
)

add_docstr(
    "sgn",
    """
Return the sign of each element; for real numbers the same as :func:`sign`.

Shape: the shape of ``input``.

Example:
    >>> torch.sgn(torch.tensor([-1.5, 0.0, 2.0]))
    tensor([-1.,  0.,  1.])
""",
)

add_docstr(
    "signbit",
    """
Return whether the sign bit of each element is set, as in negative numbers and in -0.0.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.signbit(torch.tensor([-1.0, -0.0, 0.0]))
    tensor([ True,  True, False])
""",
)

add_docstr(
    "bitwise_not",
    """
Invert every bit of each element. For booleans this is the logical not.

Shape: the shape of ``input``.

Raises:
    RuntimeError: the dtype is a floating-point dtype.

Example:
    >>> torch.bitwise_not(torch.tensor([0, 1, -5]))
    tensor([-1, -2,  4])
""",
)

add_docstr(
    "logical_not",
    """
Return whether each element is zero (or False).

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.logical_not(torch.tensor([0.0, 2.0]))
    tensor([ True, False])
""",
)

add_docstr(
    "sqrt",
    """
Return the square root of each element; nan for negative ones.

Shape: the shape of ``input``.

Example:
    >>> torch.sqrt(torch.tensor([4.0, 2.0, -1.0]))
    tensor([2.0000, 1.4142,    nan])
""",
)

add_docstr(
    "rsqrt",
    r"""
Return :math:`1 / \sqrt{x}` of each element.

Shape: the shape of ``input``.

Example:
    >>> torch.rsqrt(torch.tensor([4.0, 0.25]))
    tensor([0.5000, 2.0000])
""",
)

add_docstr(
    "reciprocal",
    """
Return :math:`1 / x` of each element.

Shape: the shape of ``input``.

Example:
    >>> torch.reciprocal(torch.tensor([4.0, 0.0]))
    tensor([0.2500,    inf])
""",
)

add_docstr(
    "exp",
    """
Return :math:`e^x` of each element.

Shape: the shape of ``input``.

Example:
    >>> torch.exp(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
""",
)

add_docstr(
    "expm1",
    """
Return :math:`e^x - 1` of each element, accurate where x is near 0.

Shape: the shape of ``input``.

Example:
    >>> torch.expm1(torch.tensor([1e-10, 1.0]))
    tensor([1.0000e-10, 1.7183e+00])
""",
)

add_docstr(
    "exp2",
    """
Return :math:`2^x` of each element.

Shape: the shape of ``input``.

Example:
    >>> torch.exp2(torch.tensor([0.0, 3.0]))
    tensor([1., 8.])
""",
)

add_docstr(
    "log",
    """
Return the natural logarithm of each element.

Shape: the shape of ``input``.

Example:
    >>> torch.log(torch.tensor([1.0, 10.0, 0.0]))
    tensor([0.0000, 2.3026,   -inf])
""",
)

add_docstr(
    "log1p",
    r"""
Return :math:`\ln(1 + x)` of each element, accurate where x is near 0.

Shape: the shape of ``input``.

Example:
    >>> torch.log1p(torch.tensor([1e-10, 1.0]))
    tensor([1.0000e-10, 6.9315e-01])
""",
)

add_docstr(
    "log2",
    """
Return the logarithm to base 2 of each element.

Shape: the shape of ``input``.

Example:
    >>> torch.log2(torch.tensor([1.0, 8.0]))
    tensor([0., 3.])
""",
)

add_docstr(
    "log10",
    """
Return the logarithm to base 10 of each element.

Shape: the shape of ``input``.

Example:
    >>> torch.log10(torch.tensor([1.0, 1000.0]))
    tensor([0., 3.])
""",
)
