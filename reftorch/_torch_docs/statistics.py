"""Quantiles, distances, covariances and counts.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "quantile",
    """
Return the quantiles: the values below which the fraction ``q`` of the elements lies.

Args:
    q: a number in [0, 1], or a vector of them.
    dim: the dimension to reduce; all dimensions by default.
    keepdim: keep the reduced dimension, with size 1.
    interpolation: "linear", "lower", "higher", "midpoint" or "nearest": the value between two elements.

Shape: the shape of ``q``, then the shape of ``input`` without ``dim``.

Raises:
    RuntimeError: ``q`` is outside [0, 1], or the dtypes differ.

Example:
    >>> torch.quantile(torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([0.0, 0.5]))
    tensor([1.0000, 2.5000])
""",
)

add_docstr(
    "nanquantile",
    """
Return the quantiles of the elements that are not nan; see :func:`quantile`.

Args:
    q: a number in [0, 1], or a vector of them.
    dim: the dimension to reduce; all dimensions by default.
    interpolation: see :func:`quantile`.

Shape: the shape of ``q``, then the shape of ``input`` without ``dim``.

Example:
    >>> torch.nanquantile(torch.tensor([1.0, torch.nan, 3.0]), 0.5)
    tensor(2.)
""",
)

add_docstr(
    "dist",
    r"""
Return the norm of the difference, :math:`\|input - other\|_p`.

Args:
    p: the order of the norm.

Shape: broadcastable -> ().

Example:
    >>> torch.dist(torch.tensor([0.0, 0.0]), torch.tensor([3.0, 4.0]))
    tensor(5.)
""",
)

add_docstr(
    "cdist",
    """
Return the distance between every row of ``x1`` and every row of ``x2``.

Args:
    p: the order of the norm of the difference.
    compute_mode: the method of computation; the methods differ only in rounding.

Shape: (*, P, M), (*, R, M) -> (*, P, R).

Raises:
    RuntimeError: the rows of ``x1`` and ``x2`` differ in length.

Example:
    >>> torch.cdist(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]]))
    tensor([[5., 1.]])
""",
)

add_docstr(
    "pairwise_distance",
    r"""
Return the distance between each row of ``x1`` and the same row of ``x2``: :math:`\|x1 - x2 + eps\|_p`.

Args:
    p: the order of the norm.
    eps: added to each difference, so that the norm is not 0.
    keepdim: keep the last dimension, with size 1.

Shape: (*, D), (*, D) -> (*).

Example:
    >>> torch.pairwise_distance(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]]))
    tensor([5.0000])
""",
)

add_docstr(
    "cosine_similarity",
    r"""
Return the cosine of the angle between vectors: :math:`x1 \cdot x2 / (\|x1\| \|x2\|)`.

Args:
    dim: the dimension of the vectors.
    eps: the smallest norm; smaller norms are replaced by ``eps``.

Shape: broadcast(``x1``, ``x2``) without ``dim``.

Example:
    >>> torch.cosine_similarity(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]]))
    tensor([0.7071])
""",
)

add_docstr(
    "renorm",
    """
Scale down the slices along ``dim`` whose norm is above ``maxnorm``.

Args:
    p: the order of the norm.
    dim: the dimension of the slices.
    maxnorm: the largest norm in the result.

Shape: the shape of ``input``.

Example:
    >>> torch.renorm(torch.tensor([[3.0, 4.0], [0.3, 0.4]]), p=2, dim=0, maxnorm=1)
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]])
""",
)

add_docstr(
    "cov",
    """
Return the covariances of variables: each row is a variable, each column an observation.

Args:
    correction: 1 by default; 0 divides by the number of observations.
    fweights: the number of times that each observation counts.
    aweights: the weight of each observation.

Shape: (V, N) -> (V, V).

Example:
    >>> torch.cov(torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]))
    tensor([[1., 2.],
            [2., 4.]])
""",
)

add_docstr(
    "corrcoef",
    """
Return the correlation coefficients of variables: each row is a variable, each column an observation.

Shape: (V, N) -> (V, V).

Example:
    >>> torch.corrcoef(torch.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
""",
)

add_docstr(
    "bincount",
    """
Count how often each integer occurs, from 0 to the largest.

Args:
    weights: the number that each occurrence adds; 1 by default.
    minlength: the smallest length of the result.

Shape: (N,) -> (max + 1,).

Raises:
    RuntimeError: an element is negative, or ``input`` is not a vector of integers.

Example:
    >>> torch.bincount(torch.tensor([0, 2, 2]))
    tensor([1, 0, 2])
""",
)

add_docstr(
    "histc",
    """
Count the elements in ``bins`` ranges of equal width.

Args:
    min: the beginning of the first range.
    max: the end of the last range. If both are 0, the smallest and the largest element are used.

Shape: any -> (``bins``,).

Example:
    >>> torch.histc(torch.tensor([1.0, 2.0, 1.0, 4.0]), bins=4, min=0, max=4)
    tensor([0., 2., 1., 1.])
""",
)

add_docstr(
    "trace",
    """
Return the sum of the diagonal.

Shape: (M, N) -> ().

Raises:
    RuntimeError: ``input`` is not a matrix.

Example:
    >>> torch.trace(torch.tensor([[1, 2], [3, 4]]))
    tensor(5)
""",
)

add_docstr(
    "sum_to_size",
    """
Sum over the dimensions along which ``input`` was broadcast from ``size``.

Args:
    size: a shape that broadcasts to that of ``input``.

Shape: ``size``.

Raises:
    RuntimeError: ``size`` does not broadcast to the shape of ``input``.

Example:
    >>> torch.ones(2, 3).sum_to_size(1, 3)
    tensor([[2., 2., 2.]])
""",
)

add_docstr(
    "pdist",
    """
Return the distances between all pairs of different rows: (0, 1), (0, 2), ..., (1, 2), ...

Args:
    p: the order of the norm of a difference.

Shape: (N, M) -> (N (N - 1) / 2,).

Raises:
    RuntimeError: ``input`` is not a matrix, or ``p`` is negative.

Example:
    >>> torch.pdist(torch.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    tensor([5.0000, 1.0000, 4.2426])
""",
)
