"""Trigonometric and hyperbolic functions, conversions of angles, sigmoid, relu and threshold.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

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
    "relu",
    r"""
Return each positive element, and 0 in place of the others: :math:`\max(x, 0)`.

Shape: the shape of ``input``.

Example:
    >>> torch.relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
""",
)

add_docstr(
    "threshold",
    """
Return each element that is above a threshold, and ``value`` in place of the others.

Args:
    threshold: a number.
    value: a number.

Shape: the shape of ``input``.

Example:
    >>> torch.threshold(torch.tensor([0.1, 2.0]), 0.5, 9.0)
    tensor([9., 2.])
""",
)

add_docstr(
    "threshold_backward",
    """
Return the gradient of a threshold: ``grad_output`` where ``input`` is above ``threshold``, 0 elsewhere.

Shape: broadcast(``grad_output``, ``input``).

Example:
    >>> torch.threshold_backward(torch.ones(3), torch.tensor([-1.0, 0.0, 1.0]), 0)
    tensor([0., 0., 1.])
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
