"""The docs of functions of one number.

This file is more than 500 lines long, because ``native/UnaryOps.cpp`` registers more ops than any other file.

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
    "sin",
    """
Return the sine of each element, an angle in radians.

Shape: the shape of ``input``.

Example:
    >>> torch.sin(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8415])
""",
)

add_docstr(
    "cos",
    """
Return the cosine of each element, an angle in radians.

Shape: the shape of ``input``.

Example:
    >>> torch.cos(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.5403])
""",
)

add_docstr(
    "tan",
    """
Return the tangent of each element, an angle in radians.

Shape: the shape of ``input``.

Example:
    >>> torch.tan(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 1.5574])
""",
)

add_docstr(
    "asin",
    r"""
Return the angle in :math:`[-\pi/2, \pi/2]` whose sine is the element; nan outside [-1, 1].

Shape: the shape of ``input``.

Example:
    >>> torch.asin(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 1.5708])
""",
)

add_docstr(
    "acos",
    r"""
Return the angle in :math:`[0, \pi]` whose cosine is the element; nan outside [-1, 1].

Shape: the shape of ``input``.

Example:
    >>> torch.acos(torch.tensor([0.0, 1.0]))
    tensor([1.5708, 0.0000])
""",
)

add_docstr(
    "atan",
    r"""
Return the angle in :math:`(-\pi/2, \pi/2)` whose tangent is the element.

Shape: the shape of ``input``.

Example:
    >>> torch.atan(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7854])
""",
)

add_docstr(
    "sinh",
    """
Return the hyperbolic sine of each element, :math:`(e^x - e^{-x}) / 2`.

Shape: the shape of ``input``.

Example:
    >>> torch.sinh(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 1.1752])
""",
)

add_docstr(
    "cosh",
    """
Return the hyperbolic cosine of each element, :math:`(e^x + e^{-x}) / 2`.

Shape: the shape of ``input``.

Example:
    >>> torch.cosh(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 1.5431])
""",
)

add_docstr(
    "tanh",
    r"""
Return the hyperbolic tangent of each element, :math:`\sinh x / \cosh x`, which lies in (-1, 1).

Shape: the shape of ``input``.

Example:
    >>> torch.tanh(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
""",
)

add_docstr(
    "asinh",
    """
Return the number whose hyperbolic sine is the element.

Shape: the shape of ``input``.

Example:
    >>> torch.asinh(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8814])
""",
)

add_docstr(
    "acosh",
    """
Return the number whose hyperbolic cosine is the element; nan below 1.

Shape: the shape of ``input``.

Example:
    >>> torch.acosh(torch.tensor([1.0, 2.0]))
    tensor([0.0000, 1.3170])
""",
)

add_docstr(
    "atanh",
    """
Return the number whose hyperbolic tangent is the element; nan outside [-1, 1].

Shape: the shape of ``input``.

Example:
    >>> torch.atanh(torch.tensor([0.0, 0.5]))
    tensor([0.0000, 0.5493])
""",
)

add_docstr(
    "sigmoid",
    """
Return :math:`1 / (1 + e^{-x})` of each element, which lies in (0, 1).

Shape: the shape of ``input``.

Example:
    >>> torch.sigmoid(torch.tensor([0.0, 2.0]))
    tensor([0.5000, 0.8808])
""",
)

add_docstr(
    "angle",
    r"""
Return the angle of each element in the complex plane: 0, or :math:`\pi` for negative numbers.

Shape: the shape of ``input``.

Example:
    >>> torch.angle(torch.tensor([-1.0, 2.0]))
    tensor([3.1416, 0.0000])
""",
)

add_docstr(
    "deg2rad",
    """
Return each angle, given in degrees, in radians.

Shape: the shape of ``input``.

Example:
    >>> torch.deg2rad(torch.tensor([180.0, 90.0]))
    tensor([3.1416, 1.5708])
""",
)

add_docstr(
    "rad2deg",
    """
Return each angle, given in radians, in degrees.

Shape: the shape of ``input``.

Example:
    >>> torch.rad2deg(torch.tensor([0.0, 1.0]))
    tensor([ 0.0000, 57.2958])
""",
)

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
