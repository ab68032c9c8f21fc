"""Rounding, parts of numbers, and tests for nan, infinite and real numbers.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "floor",
    """
Return the largest integer not above each element.

Shape: the shape of ``input``.

Example:
    >>> torch.floor(torch.tensor([-1.5, 1.5]))
    tensor([-2.,  1.])
""",
)

add_docstr(
    "ceil",
    """
Return the smallest integer not below each element.

Shape: the shape of ``input``.

Example:
    >>> torch.ceil(torch.tensor([-1.5, 1.5]))
    tensor([-1.,  2.])
""",
)

add_docstr(
    "round",
    """
Return the integer nearest to each element; a half is rounded to the even integer.

Args:
    decimals: the number of decimal places to keep; a negative number rounds before the point.

Shape: the shape of ``input``.

Raises:
    RuntimeError: ``decimals`` is given and the dtype is an integer dtype.

Example:
    >>> torch.round(torch.tensor([0.5, 1.5, -1.7]))
    tensor([ 0.,  2., -2.])
    >>> torch.round(torch.tensor([3.14159]), decimals=2)
    tensor([3.1400])
""",
)

add_docstr(
    "trunc",
    """
Return each element without its fraction.

Shape: the shape of ``input``.

Example:
    >>> torch.trunc(torch.tensor([-1.5, 1.5]))
    tensor([-1.,  1.])
""",
)

add_docstr(
    "frac",
    """
Return the fraction of each element, with its sign: :math:`x - trunc(x)`.

Shape: the shape of ``input``.

Example:
    >>> torch.frac(torch.tensor([-1.5, 2.25]))
    tensor([-0.5000,  0.2500])
""",
)

add_docstr(
    "frexp",
    r"""
Split each element in a mantissa in [0.5, 1) and a power of two: :math:`x = mantissa \cdot 2^{exponent}`.

Shape: the shape of ``input``, twice; the exponents are int32.

Raises:
    RuntimeError: the elements are not floats.

Example:
    >>> mantissa, exponent = torch.frexp(torch.tensor([8.0, 3.0]))
    >>> mantissa, exponent
    (tensor([0.5000, 0.7500]), tensor([4, 2], dtype=torch.int32))
""",
)

add_docstr(
    "nan_to_num",
    """
Replace nan and the infinities by numbers.

Args:
    nan: the replacement of nan; 0 by default.
    posinf: the replacement of inf; the largest number of the dtype by default.
    neginf: the replacement of -inf; the lowest number of the dtype by default.

Shape: the shape of ``input``.

Example:
    >>> torch.nan_to_num(torch.tensor([torch.nan, torch.inf, 1.0]), nan=-1.0, posinf=9.0)
    tensor([-1.,  9.,  1.])
""",
)

add_docstr(
    "square",
    """
Return :math:`x^2` of each element.

Shape: the shape of ``input``.

Example:
    >>> torch.square(torch.tensor([-3, 2]))
    tensor([9, 4])
""",
)

add_docstr(
    "isnan",
    """
Return whether each element is nan.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.isnan(torch.tensor([1.0, torch.nan]))
    tensor([False,  True])
""",
)

add_docstr(
    "isinf",
    """
Return whether each element is inf or -inf.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.isinf(torch.tensor([1.0, -torch.inf]))
    tensor([False,  True])
""",
)

add_docstr(
    "isfinite",
    """
Return whether each element is neither infinite nor nan.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.isfinite(torch.tensor([1.0, torch.inf, torch.nan]))
    tensor([ True, False, False])
""",
)

add_docstr(
    "isposinf",
    """
Return whether each element is inf.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.isposinf(torch.tensor([torch.inf, -torch.inf]))
    tensor([ True, False])
""",
)

add_docstr(
    "isneginf",
    """
Return whether each element is -inf.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.isneginf(torch.tensor([torch.inf, -torch.inf]))
    tensor([False,  True])
""",
)

add_docstr(
    "isreal",
    """
Return whether each element is a real number: always True, because there are no complex dtypes.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.isreal(torch.tensor([1.0, 2.0]))
    tensor([True, True])
""",
)

add_docstr(
    "real",
    """
Return the real part of each element: ``input`` itself, because there are no complex dtypes.

Shape: the shape of ``input``; the result is a view of ``input``.

Example:
    >>> torch.real(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "conj",
    """
Return the complex conjugate of each element: ``input`` itself, because there are no complex dtypes.

Shape: the shape of ``input``; the result is a view of ``input``.

Example:
    >>> torch.conj(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "conj_physical",
    """
Return the complex conjugate of each element. The conjugate of a real number is the number itself, so the result is
``input``.

Shape: the shape of ``input``.

Example:
    >>> torch.conj_physical(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "resolve_conj",
    """
Carry out a pending conjugation. There is never one, so the result is ``input``.

Shape: the shape of ``input``.

Example:
    >>> torch.resolve_conj(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "resolve_neg",
    """
Carry out a pending negation. There is never one, so the result is ``input``.

Shape: the shape of ``input``.

Example:
    >>> torch.resolve_neg(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "is_nonzero",
    """
Return whether the only element of ``input`` is not zero.

Shape: one element -> a Python bool.

Raises:
    RuntimeError: the number of elements is not 1.

Example:
    >>> torch.is_nonzero(torch.tensor([2.0]))
    True
""",
)
