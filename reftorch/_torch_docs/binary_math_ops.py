"""The docs of mathematical functions of two tensors: angles, logarithms of sums, divisors.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "float_power",
    """
Raise ``input`` to a power. The computation is in float64, whatever the dtypes are.

Args:
    exponent: a tensor, or a number.

Shape: broadcast(``input``, ``exponent``), of float64.

Example:
    >>> torch.float_power(torch.tensor([4, 9]), 0.5)
    tensor([2., 3.], dtype=torch.float64)
""",
)

add_docstr(
    "fmax",
    """
Return the larger of the two elements; if one is nan, return the other.

Shape: broadcast(``input``, ``other``).

Example:
    >>> torch.fmax(torch.tensor([1.0, torch.nan]), torch.tensor([3.0, 2.0]))
    tensor([3., 2.])
""",
)

add_docstr(
    "fmin",
    """
Return the smaller of the two elements; if one is nan, return the other.

Shape: broadcast(``input``, ``other``).

Example:
    >>> torch.fmin(torch.tensor([1.0, torch.nan]), torch.tensor([3.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "atan2",
    r"""
Return the angle of the point (``other``, ``input``), in :math:`[-\pi, \pi]`: the arc tangent of ``input / other``, in
the quadrant of the point.

Shape: broadcast(``input``, ``other``).

Example:
    >>> torch.atan2(torch.tensor([1.0, -1.0]), torch.tensor([-1.0, -1.0]))
    tensor([ 2.3562, -2.3562])
""",
)

add_docstr(
    "hypot",
    r"""
Return :math:`\sqrt{input^2 + other^2}` without overflow of the squares.

Shape: broadcast(``input``, ``other``).

Example:
    >>> torch.hypot(torch.tensor([3.0]), torch.tensor([4.0]))
    tensor([5.])
""",
)

add_docstr(
    "logaddexp",
    r"""
Return :math:`\ln(e^{input} + e^{other})` without overflow.

Shape: broadcast(``input``, ``other``).

Example:
    >>> torch.logaddexp(torch.tensor([0.0, 1000.0]), torch.tensor([0.0, 1000.0]))
    tensor([6.9315e-01, 1.0007e+03])
""",
)

add_docstr(
    "logaddexp2",
    r"""
Return :math:`\log_2(2^{input} + 2^{other})` without overflow.

Shape: broadcast(``input``, ``other``).

Example:
    >>> torch.logaddexp2(torch.tensor([0.0, 1000.0]), torch.tensor([0.0, 1000.0]))
    tensor([1.0000e+00, 1.0010e+03])
""",
)

add_docstr(
    "copysign",
    """
Return the absolute value of ``input`` with the sign of ``other``.

Shape: broadcast(``input``, ``other``).

Example:
    >>> torch.copysign(torch.tensor([1.0, -2.0]), torch.tensor([-1.0, 1.0]))
    tensor([-1.,  2.])
""",
)

add_docstr(
    "nextafter",
    """
Return the next floating-point number from ``input`` towards ``other``.

Shape: broadcast(``input``, ``other``).

Raises:
    RuntimeError: the dtypes differ, or are integer dtypes.

Example:
    >>> torch.nextafter(torch.tensor([1.0]), torch.tensor([2.0])) - 1
    tensor([1.1921e-07])
""",
)

add_docstr(
    "heaviside",
    """
Return the step function of each element: 0 for negative elements, 1 for positive ones, and ``values`` at 0.

Args:
    values: a tensor of the same dtype.

Shape: broadcast(``input``, ``values``).

Raises:
    RuntimeError: the dtypes differ.

Example:
    >>> torch.heaviside(torch.tensor([-1.0, 0.0, 2.0]), torch.tensor([0.5]))
    tensor([0.0000, 0.5000, 1.0000])
""",
)

add_docstr(
    "ldexp",
    r"""
Multiply by a power of two: :math:`input \cdot 2^{other}`.

Shape: broadcast(``input``, ``other``).

Example:
    >>> torch.ldexp(torch.tensor([1.0, 3.0]), torch.tensor([2, 3]))
    tensor([ 4., 24.])
""",
)

add_docstr(
    "gcd",
    """
Return the greatest common divisor, element by element.

Shape: broadcast(``input``, ``other``).

Raises:
    RuntimeError: a tensor does not have an integer dtype.

Example:
    >>> torch.gcd(torch.tensor([12, 10]), torch.tensor([18, 4]))
    tensor([6, 2])
""",
)

add_docstr(
    "lcm",
    """
Return the least common multiple, element by element.

Shape: broadcast(``input``, ``other``).

Raises:
    RuntimeError: a tensor does not have an integer dtype.

Example:
    >>> torch.lcm(torch.tensor([4, 10]), torch.tensor([6, 4]))
    tensor([12, 20])
""",
)

add_docstr(
    "xlogy",
    r"""
Return :math:`x \ln y`, and 0 if x is 0 (even if y is 0).

Shape: broadcast(``input``, ``other``).

Example:
    >>> torch.xlogy(torch.tensor([0.0, 2.0]), torch.tensor([0.0, 3.0]))
    tensor([0.0000, 2.1972])
""",
)
