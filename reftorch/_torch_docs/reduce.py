"""Reductions: sums, means, variances, extrema, norms.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "sum",
    """
Add up all elements, or those along ``dim``.

Args:
    dim: dimension or dimensions that go; all by default.
    keepdim: keep them, with size 1.
    dtype: what to compute in; small integers and bools are added up as int64 by default.

Shape: that of ``input`` without ``dim``.

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
    dim: dimension or dimensions that go; all by default.
    keepdim: keep them, with size 1.

Shape: that of ``input`` without ``dim``.

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
    dim: dimension or dimensions that go; all by default.
    keepdim: keep them, with size 1.
    dtype: what to compute in.

Shape: that of ``input`` without ``dim``.

Raises:
    RuntimeError: the elements are not floats, and ``dtype`` is no float dtype.

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
    dim: dimension or dimensions that go; all by default.
    keepdim: keep them, with size 1.

Shape: that of ``input`` without ``dim``.

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
    dim: the dimension that goes; all by default.
    keepdim: keep it, with size 1.

Shape: that of ``input`` without ``dim``.

Example:
    >>> torch.prod(torch.tensor([[1, 2], [3, 4]]), dim=0)
    tensor([3, 8])
""",
)

add_docstr(
    "all",
    """
Tell whether all elements are true (not zero), or all along ``dim``.

Args:
    dim: dimension or dimensions that go; all by default.
    keepdim: keep them, with size 1.

Shape: that of ``input`` without ``dim``, of bools (uint8 for uint8).

Example:
    >>> torch.all(torch.tensor([[True, True], [True, False]]), dim=1)
    tensor([ True, False])
""",
)

add_docstr(
    "any",
    """
Tell whether some element is true (not zero), or some along ``dim``.

Args:
    dim: dimension or dimensions that go; all by default.
    keepdim: keep them, with size 1.

Shape: that of ``input`` without ``dim``, of bools (uint8 for uint8).

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
    dim: dimension or dimensions that go; all by default.

Shape: that of ``input`` without ``dim``, of int64.

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
    dim: dimension or dimensions that go; all by default.
    keepdim: keep them, with size 1.
    dtype: what to compute in.

Shape: that of ``input`` without ``dim``.

Raises:
    RuntimeError: the elements are not floats.

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
    dim: dimension or dimensions that go.
    keepdim: keep them, with size 1.

Shape: that of ``input`` without ``dim``.

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
    dim: dimension or dimensions that go; all by default.
    correction: 1 by default (Bessel's); 0 divides by the number of elements. ``unbiased`` is its older name, a
        bool.
    keepdim: keep them, with size 1.

Shape: that of ``input`` without ``dim``.

Raises:
    RuntimeError: the elements are not floats.

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
    dim: dimension or dimensions that go; all by default.
    correction: 1 by default (Bessel's); 0 divides by the number of elements.
    keepdim: keep them, with size 1.

Shape: that of ``input`` without ``dim``.

Raises:
    RuntimeError: the elements are not floats.

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
    dim: dimension or dimensions that go; all by default.
    correction: as of :func:`var`.
    keepdim: keep them, with size 1.

Shape: that of ``input`` without ``dim``, twice.

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
    dim: dimension or dimensions that go; all by default.
    correction: as of :func:`var`.
    keepdim: keep them, with size 1.

Shape: that of ``input`` without ``dim``, twice.

Example:
    >>> torch.std_mean(torch.tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
""",
)

add_docstr(
    "max",
    """
Return the largest element; or with ``dim`` the largest along it and where it is; or with ``other`` the larger of
the two.

Args:
    dim: the dimension that goes.
    keepdim: keep it, with size 1.
    other: a tensor: then this is :func:`maximum`.

Shape: -> (); with ``dim``: that of ``input`` without it, for (values, indices).

Raises:
    RuntimeError: there are no elements to choose from.

Example:
    >>> x = torch.tensor([[1, 5], [7, 2]])
    >>> torch.max(x)
    tensor(7)
    >>> torch.max(x, dim=1).indices
    tensor([1, 0])
""",
)

add_docstr(
    "min",
    """
Return the smallest element; or with ``dim`` the smallest along it and where it is; or with ``other`` the smaller of
the two.

Args:
    dim: the dimension that goes.
    keepdim: keep it, with size 1.
    other: a tensor: then this is :func:`minimum`.

Shape: -> (); with ``dim``: that of ``input`` without it, for (values, indices).

Raises:
    RuntimeError: there are no elements to choose from.

Example:
    >>> x = torch.tensor([[1, 5], [7, 2]])
    >>> torch.min(x)
    tensor(1)
    >>> torch.min(x, dim=1).values
    tensor([1, 2])
""",
)

add_docstr(
    "amax",
    """
Return the largest element along ``dim``. Where several are largest, they share the gradient.

Args:
    dim: dimension or dimensions that go; all by default.
    keepdim: keep them, with size 1.

Shape: that of ``input`` without ``dim``.

Example:
    >>> torch.amax(torch.tensor([[1, 5], [7, 2]]), dim=(0, 1))
    tensor(7)
""",
)

add_docstr(
    "amin",
    """
Return the smallest element along ``dim``. Where several are smallest, they share the gradient.

Args:
    dim: dimension or dimensions that go; all by default.
    keepdim: keep them, with size 1.

Shape: that of ``input`` without ``dim``.

Example:
    >>> torch.amin(torch.tensor([[1, 5], [7, 2]]), dim=0)
    tensor([1, 2])
""",
)

add_docstr(
    "aminmax",
    """
Return the smallest and the largest element in one pass, as a named tuple (min, max).

Args:
    dim: the dimension that goes; all by default.
    keepdim: keep it, with size 1.

Shape: that of ``input`` without ``dim``, twice.

Example:
    >>> low, high = torch.aminmax(torch.tensor([[1, 5], [7, 2]]), dim=0)
    >>> low, high
    (tensor([1, 2]), tensor([7, 5]))
""",
)

add_docstr(
    "argmax",
    """
Return where the largest element is: the first such index, among all elements in order, or along ``dim``.

Args:
    dim: the dimension that goes; all by default.
    keepdim: keep it, with size 1.

Shape: that of ``input`` without ``dim``, of int64.

Example:
    >>> torch.argmax(torch.tensor([[1, 5], [7, 2]]), dim=1)
    tensor([1, 0])
""",
)

add_docstr(
    "argmin",
    """
Return where the smallest element is: the first such index, among all elements in order, or along ``dim``.

Args:
    dim: the dimension that goes; all by default.
    keepdim: keep it, with size 1.

Shape: that of ``input`` without ``dim``, of int64.

Example:
    >>> torch.argmin(torch.tensor([[1, 5], [7, 2]]))
    tensor(0)
""",
)
