"""The docs of variances and standard deviations.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "var",
    r"""
Return the variance, :math:`\sum (x - \bar x)^2 / (N - correction)`.

Args:
    dim: the dimension or dimensions to reduce; all dimensions by default.
    correction: 1 by default (Bessel's correction); 0 divides by the number of elements. ``unbiased`` is the older form
        of this argument, a bool.
    keepdim: keep the reduced dimensions, with size 1.

Shape: the shape of ``input`` without ``dim``.

Raises:
    RuntimeError: the dtype is not a floating-point dtype.

Example:
    >>> x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    >>> torch.var(x), torch.var(x, correction=0)
    (tensor(1.6667), tensor(1.2500))
""",
)

add_docstr(
    "std",
    """
Return the standard deviation: the square root of :func:`var`.

Args:
    dim: the dimension or dimensions to reduce; all dimensions by default.
    correction: 1 by default (Bessel's correction); 0 divides by the number of elements.
    keepdim: keep the reduced dimensions, with size 1.

Shape: the shape of ``input`` without ``dim``.

Raises:
    RuntimeError: the dtype is not a floating-point dtype.

Example:
    >>> torch.std(torch.tensor([[1.0, 3.0], [2.0, 6.0]]), dim=1)
    tensor([1.4142, 2.8284])
""",
)

add_docstr(
    "var_mean",
    """
Return the variance and the mean in one pass.

Args:
    dim: the dimension or dimensions to reduce; all dimensions by default.
    correction: see :func:`var`.
    keepdim: keep the reduced dimensions, with size 1.

Shape: the shape of ``input`` without ``dim``, twice.

Example:
    >>> torch.var_mean(torch.tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
""",
)

add_docstr(
    "std_mean",
    """
Return the standard deviation and the mean in one pass.

Args:
    dim: the dimension or dimensions to reduce; all dimensions by default.
    correction: see :func:`var`.
    keepdim: keep the reduced dimensions, with size 1.

Shape: the shape of ``input`` without ``dim``, twice.

Example:
    >>> torch.std_mean(torch.tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
""",
)
