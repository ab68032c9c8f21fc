"""Rounding, parts of numbers, and what kind of number one is.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "floor",
    """
Return the largest integer not above each element.

Shape: that of ``input``.

Example:
    >>> torch.floor(torch.tensor([-1.5, 1.5]))
    tensor([-2.,  1.])
""",
)

add_docstr(
    "ceil",
    """
Return the smallest integer not below each element.

Shape: that of ``input``.

Example:
    >>> torch.ceil(torch.tensor([-1.5, 1.5]))
    tensor([-1.,  2.])
""",
)

add_docstr(
    "round",
    """
Return the integer nearest to each element; halves go to the even one.

Args:
    decimals: how many places after the point to keep; a negative number rounds before the point.

Shape: that of ``input``.

Raises:
    RuntimeError: ``decimals`` is given for integers.

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

Shape: that of ``input``.

Example:
    >>> torch.trunc(torch.tensor([-1.5, 1.5]))
    tensor([-1.,  1.])
""",
)

add_docstr(
    "frac",
    """
Return the fraction of each element, with its sign: :math:`x - trunc(x)`.

Shape: that of ``input``.

Example:
    >>> torch.frac(torch.tensor([-1.5, 2.25]))
    tensor([-0.5000,  0.2500])
""",
)

add_docstr(
    "frexp",
    r"""
Split each element in a mantissa in [0.5, 1) and a power of two: :math:`x = mantissa \cdot 2^{exponent}`.

Shape: that of ``input``, twice; the exponents are int32.

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
    nan: what nan becomes; 0 by default.
    posinf: what inf becomes; the largest number of the dtype by default.
    neginf: what -inf becomes; the lowest number of the dtype by default.

Shape: that of ``input``.

Example:
    >>> torch.nan_to_num(torch.tensor([torch.nan, torch.inf, 1.0]), nan=-1.0, posinf=9.0)
    tensor([-1.,  9.,  1.])
""",
)

add_docstr(
    "square",
    """
Return :math:`x^2` of each element.

Shape: that of ``input``.

Example:
    >>> torch.square(torch.tensor([-3, 2]))
    tensor([9, 4])
""",
)

add_docstr(
    "isnan",
    """
Tell which elements are nan.

Shape: that of ``input``, of bools.

Example:
    >>> torch.isnan(torch.tensor([1.0, torch.nan]))
    tensor([False,  True])
""",
)

add_docstr(
    "isinf",
    """
Tell which elements are inf or -inf.

Shape: that of ``input``, of bools.

Example:
    >>> torch.isinf(torch.tensor([1.0, -torch.inf]))
    tensor([False,  True])
""",
)

add_docstr(
    "isfinite",
    """
Tell which elements are neither infinite nor nan.

Shape: that of ``input``, of bools.

Example:
    >>> torch.isfinite(torch.tensor([1.0, torch.inf, torch.nan]))
    tensor([ True, False, False])
""",
)

add_docstr(
    "isposinf",
    """
Tell which elements are inf.

Shape: that of ``input``, of bools.

Example:
    >>> torch.isposinf(torch.tensor([torch.inf, -torch.inf]))
    tensor([ True, False])
""",
)

add_docstr(
    "isneginf",
    """
Tell which elements are -inf.

Shape: that of ``input``, of bools.

Example:
    >>> torch.isneginf(torch.tensor([torch.inf, -torch.inf]))
    tensor([False,  True])
""",
)

add_docstr(
    "isreal",
    """
Tell which elements are real numbers: here all of them.

Shape: that of ``input``, of bools.

Example:
    >>> torch.isreal(torch.tensor([1.0, 2.0]))
    tensor([True, True])
""",
)

add_docstr(
    "real",
    """
Return the real part of each element: ``input`` itself, as there are no complex dtypes.

Shape: that of ``input``; the result is a view of it.

Example:
    >>> torch.real(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "conj",
    """
Return the complex conjugate of each element: ``input`` itself, as there are no complex dtypes.

Shape: that of ``input``; the result is a view of it.

Example:
    >>> torch.conj(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "conj_physical",
    """
Return the complex conjugate of each element, in memory of its own where that differs from the element.

Shape: that of ``input``.

Example:
    >>> torch.conj_physical(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "resolve_conj",
    """
Carry a pending conjugation out: there is none, so this is ``input``.

Shape: that of ``input``.

Example:
    >>> torch.resolve_conj(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "resolve_neg",
    """
Carry a pending negation out: there is none, so this is ``input``.

Shape: that of ``input``.

Example:
    >>> torch.resolve_neg(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "is_nonzero",
    """
Tell whether the one element of ``input`` is not zero.

Shape: one element -> a Python bool.

Raises:
    RuntimeError: there is not exactly one element.

Example:
    >>> torch.is_nonzero(torch.tensor([2.0]))
    True
""",
)
