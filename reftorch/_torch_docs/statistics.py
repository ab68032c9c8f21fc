"""Quantiles, distances, covariances, counts.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "quantile",
    """
Return the values below which the share ``q`` of the elements lies.

Args:
    q: a number in [0, 1], or a vector of them.
    dim: the dimension that goes; all by default.
    keepdim: keep it, with size 1.
    interpolation: "linear", "lower", "higher", "midpoint" or "nearest": what lies between two elements.

Shape: the shape of ``q``, then that of ``input`` without ``dim``.

Raises:
    RuntimeError: ``q`` is outside of [0, 1]; the dtypes differ.

Example:
    >>> torch.quantile(torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([0.0, 0.5]))
    tensor([1.0000, 2.5000])
""",
)

add_docstr(
    "nanquantile",
    """
Return the values below which the share ``q`` of the elements that are not nan lies.

Args:
    q: a number in [0, 1], or a vector of them.
    dim: the dimension that goes; all by default.
    interpolation: as of :func:`quantile`.

Shape: the shape of ``q``, then that of ``input`` without ``dim``.

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
Return the distance of every row of ``x1`` from every row of ``x2``.

Args:
    p: the order of the norm of the difference.
    compute_mode: how to compute it; the modes differ in rounding only.

Shape: (*, P, M), (*, R, M) -> (*, P, R).

Raises:
    RuntimeError: the rows differ in length.

Example:
    >>> torch.cdist(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]]))
    tensor([[5., 1.]])
""",
)

add_docstr(
    "pairwise_distance",
    r"""
Return the distances of the rows, one by one: :math:`\|x1 - x2 + eps\|_p`.

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
    eps: the least that a norm counts as.

Shape: broadcast(``x1``, ``x2``) without ``dim``.

Example:
    >>> torch.cosine_similarity(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]]))
    tensor([0.7071])
""",
)

add_docstr(
    "renorm",
    """
Scale the slices at ``dim`` down whose norm is above ``maxnorm``.

Args:
    p: the order of the norm.
    dim: the dimension whose slices are looked at.
    maxnorm: the largest norm to leave.

Shape: that of ``input``.

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
    fweights: how often each observation counts.
    aweights: how much each observation counts.

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
    weights: what each occurrence adds; 1 by default.
    minlength: the least length of the result.

Shape: (N,) -> (max + 1,).

Raises:
    RuntimeError: an element is negative, or ``input`` is no vector of integers.

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
    min: where the first range begins.
    max: where the last one ends; where both are 0, the least and the largest element are taken.

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
    RuntimeError: ``input`` is no matrix.

Example:
    >>> torch.trace(torch.tensor([[1, 2], [3, 4]]))
    tensor(5)
""",
)

add_docstr(
    "sum_to_size",
    """
Add up the dimensions by which ``input`` was broadcast from ``size``.

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
    RuntimeError: ``input`` is no matrix; ``p`` is negative.

Example:
    >>> torch.pdist(torch.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    tensor([5.0000, 1.0000, 4.2426])
""",
)
