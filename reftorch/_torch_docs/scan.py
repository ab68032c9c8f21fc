"""Ops along one dimension: cumulative sums, softmax, differences, integrals.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "cumsum",
    """
Return the running sum along ``dim``.

Args:
    dtype: the dtype of the computation and of the result; by default, integers are summed as int64.

Shape: the shape of ``input``.

Example:
    >>> torch.cumsum(torch.tensor([1, 2, 3]), dim=0)
    tensor([1, 3, 6])
""",
)

add_docstr(
    "cumprod",
    """
Return the running product along ``dim``.

Args:
    dtype: the dtype of the computation and of the result.

Shape: the shape of ``input``.

Example:
    >>> torch.cumprod(torch.tensor([1, 2, 3]), dim=0)
    tensor([1, 2, 6])
""",
)

add_docstr(
    "logcumsumexp",
    r"""
Return :math:`\ln \sum e^x` of the elements so far, along ``dim``, without overflow.

Shape: the shape of ``input``.

Example:
    >>> torch.logcumsumexp(torch.tensor([0.0, 0.0, 0.0]), dim=0)
    tensor([0.0000, 0.6931, 1.0986])
""",
)

add_docstr(
    "cummax",
    """
Return the largest element so far along ``dim``, and its index: (values, indices).

Shape: the shape of ``input``, twice.

Example:
    >>> torch.cummax(torch.tensor([1, 3, 2]), dim=0).values
    tensor([1, 3, 3])
""",
)

add_docstr(
    "cummin",
    """
Return the smallest element so far along ``dim``, and its index: (values, indices).

Shape: the shape of ``input``, twice.

Example:
    >>> torch.cummin(torch.tensor([3, 1, 2]), dim=0).values
    tensor([3, 1, 1])
""",
)

add_docstr(
    "softmax",
    r"""
Return :math:`e^{x_i} / \sum_j e^{x_j}` along ``dim``: positive numbers that add up to 1.

Args:
    dtype: the dtype of the computation and of the result.

Shape: the shape of ``input``.

Raises:
    RuntimeError: the dtype is an integer dtype, and ``dtype`` is not given.

Example:
    >>> torch.softmax(torch.tensor([0.0, 0.0, 1.0]), dim=0)
    tensor([0.2119, 0.2119, 0.5761])
""",
)

add_docstr(
    "log_softmax",
    """
Return the logarithm of :func:`softmax`, accurate where the softmax is small.

Args:
    dtype: the dtype of the computation and of the result.

Shape: the shape of ``input``.

Example:
    >>> torch.log_softmax(torch.tensor([0.0, 0.0, 1.0]), dim=0)
    tensor([-1.5514, -1.5514, -0.5514])
""",
)

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
