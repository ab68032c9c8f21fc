"""The docs of differences and integrals along a dimension.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "diff",
    """
Return the differences of neighbours along ``dim``.

Args:
    n: the number of times that differences are taken.
    prepend: a tensor to put before ``input``.
    append: a tensor to put after ``input``.

Shape: the shape of ``input``, with ``n`` subtracted from the size at ``dim``.

Example:
    >>> torch.diff(torch.tensor([1, 4, 9, 16]))
    tensor([3, 5, 7])
""",
)

add_docstr(
    "trapezoid",
    r"""
Integrate along ``dim`` by the trapezoidal rule: :math:`\sum (y_i + y_{i-1}) / 2 \cdot \Delta x`.

Args:
    x: the points at which ``y`` has its values; or ``dx``, a number, the distance between the points.

Shape: the shape of ``y`` without ``dim``.

Example:
    >>> torch.trapezoid(torch.tensor([0.0, 1.0, 2.0]), dx=2)
    tensor(4.)
""",
)

add_docstr(
    "trapz",
    """
Integrate along ``dim`` by the trapezoidal rule: the older name of :func:`trapezoid`.

Shape: the shape of ``y`` without ``dim``.

Example:
    >>> torch.trapz(torch.tensor([0.0, 1.0, 2.0]), torch.tensor([0.0, 1.0, 3.0]))
    tensor(3.5000)
""",
)

add_docstr(
    "cumulative_trapezoid",
    """
Integrate along ``dim`` by the trapezoidal rule, and return the integral up to each point.

Args:
    x: the points at which ``y`` has its values; or ``dx``, a number, the distance between the points.

Shape: the shape of ``y``, with 1 subtracted from the size at ``dim``.

Example:
    >>> torch.cumulative_trapezoid(torch.tensor([0.0, 1.0, 2.0]))
    tensor([0.5000, 2.0000])
""",
)
