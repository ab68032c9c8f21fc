"""The docs of reductions: sums, means, products, norms, variances, all and any.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "sum",
    """
Add up all elements, or those along ``dim``.

Args:
    dim: the dimension or dimensions to reduce; all dimensions by default.
    keepdim: keep the reduced dimensions, with size 1.
    dtype: the dtype of the computation and of the result; by default, integers and bools are summed as int64.

Shape: the shape of ``input`` without ``dim``.

Example:
    >>> x = torch.tensor([[1, 2], [3, 4]])
    >>> torch.sum(x), torch.sum(x, dim=0)
    (tensor(10), tensor([4, 6]))
""",
)

add_docstr(
    "nansum",
    """
Add up all elements, or those along ``dim``; nan counts as 0.

Args:
    dim: the dimension or dimensions to reduce; all dimensions by default.
    keepdim: keep the reduced dimensions, with size 1.

Shape: the shape of ``input`` without ``dim``.

Example:
    >>> torch.nansum(torch.tensor([1.0, torch.nan, 2.0]))
    tensor(3.)
""",
)

add_docstr(
    "mean",
    """
Return the mean of all elements, or of those along ``dim``.

Args:
    dim: the dimension or dimensions to reduce; all dimensions by default.
    keepdim: keep the reduced dimensions, with size 1.
    dtype: the dtype of the computation and of the result.

Shape: the shape of ``input`` without ``dim``.

Raises:
    RuntimeError: neither the dtype of ``input`` nor ``dtype`` is a floating-point dtype.

Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> torch.mean(x), torch.mean(x, dim=1, keepdim=True)
    (tensor(2.5000), tensor([[1.5000],
            [3.5000]]))
""",
)

add_docstr(
    "nanmean",
    """
Return the mean of the elements that are not nan.

Args:
    dim: the dimension or dimensions to reduce; all dimensions by default.
    keepdim: keep the reduced dimensions, with size 1.

Shape: the shape of ``input`` without ``dim``.

Example:
    >>> torch.nanmean(torch.tensor([1.0, torch.nan, 2.0]))
    tensor(1.5000)
""",
)

add_docstr(
    "prod",
    """
Multiply all elements, or those along ``dim``.

Args:
    dim: the dimension to reduce; all dimensions by default.
    keepdim: keep the reduced dimension, with size 1.

Shape: the shape of ``input`` without ``dim``.

Example:
    >>> torch.prod(torch.tensor([[1, 2], [3, 4]]), dim=0)
    tensor([3, 8])
""",
)

add_docstr(
    "all",
    """
Return whether all elements, or all elements along ``dim``, are true (not zero).

Args:
    dim: the dimension or dimensions to reduce; all dimensions by default.
    keepdim: keep the reduced dimensions, with size 1.

Shape: the shape of ``input`` without ``dim``, of bools (uint8 for uint8).

Example:
    >>> torch.all(torch.tensor([[True, True], [True, False]]), dim=1)
    tensor([ True, False])
""",
)

add_docstr(
    "any",
    """
Return whether at least one element, or one along ``dim``, is true (not zero).

Args:
    dim: the dimension or dimensions to reduce; all dimensions by default.
    keepdim: keep the reduced dimensions, with size 1.

Shape: the shape of ``input`` without ``dim``, of bools (uint8 for uint8).

Example:
    >>> torch.any(torch.tensor([[False, False], [True, False]]), dim=1)
    tensor([False,  True])
""",
)

add_docstr(
    "count_nonzero",
    """
Count the elements that are not zero.

Args:
    dim: the dimension or dimensions to reduce; all dimensions by default.

Shape: the shape of ``input`` without ``dim``, of int64.

Example:
    >>> torch.count_nonzero(torch.tensor([[0, 1], [2, 3]]), dim=0)
    tensor([1, 2])
""",
)

add_docstr(
    "norm",
    r"""
Return the norm :math:`(\sum |x|^p)^{1/p}` of all elements, or along ``dim``.

Args:
    p: any number, or inf, or -inf; 2 by default.
    dim: the dimension or dimensions to reduce; all dimensions by default.
    keepdim: keep the reduced dimensions, with size 1.
    dtype: the dtype of the computation and of the result.

Shape: the shape of ``input`` without ``dim``.

Raises:
    RuntimeError: the dtype is not a floating-point dtype.

Example:
    >>> torch.norm(torch.tensor([3.0, 4.0]), 2)
    tensor(5.)
""",
)

add_docstr(
    "logsumexp",
    r"""
Return :math:`\ln \sum e^x` along ``dim``, without overflow.

Args:
    dim: the dimension or dimensions to reduce.
    keepdim: keep the reduced dimensions, with size 1.

Shape: the shape of ``input`` without ``dim``.

Example:
    >>> torch.logsumexp(torch.tensor([[1000.0, 1000.0], [0.0, 1.0]]), dim=1)
    tensor([1000.6932,    1.3133])
""",
)

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
