"""The docs of distances between vectors, and renorm.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

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

add_docstr(
    "_cdist_backward",
    """
Return the gradient of :func:`_cdist_forward` for ``x1``.

Args:
    cdist: the distances.

Shape: the shape of ``x1``, with the batch dimensions of both.

Example:
    >>> x, y = torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]])
    >>> torch.ops.aten._cdist_backward(torch.ones(1, 1), x, y, 2.0, torch.cdist(x, y))
    tensor([[-0.6000, -0.8000]])
""",
)

add_docstr(
    "_euclidean_dist",
    r"""
Return the Euclidean distances of all pairs of rows, from a matrix product: the op of :func:`cdist` for many points.

Shape: (\*, n, m) for (\*, n, d) and (\*, m, d).

Example:
    >>> torch._euclidean_dist(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]]))
    tensor([[5.]])
""",
)

add_docstr(
    "_pdist_forward",
    """
Return the distances between all pairs of rows: the op of :func:`pdist`.

Args:
    input: (n, m), contiguous.
    p: the order of the norm, 0 or more.

Shape: (n (n - 1) / 2).

Raises:
    RuntimeError: ``input`` is not contiguous.

Example:
    >>> torch.ops.aten._pdist_forward(torch.tensor([[0.0], [1.0], [3.0]]))
    tensor([1., 3., 2.])
""",
)

add_docstr(
    "_pdist_backward",
    """
Return the gradient of :func:`_pdist_forward` for ``input``.

Args:
    pdist: the distances.

Shape: the shape of ``input``.

Example:
    >>> x = torch.tensor([[0.0], [1.0], [3.0]])
    >>> torch.ops.aten._pdist_backward(torch.ones(3), x, 2.0, torch.pdist(x))
    tensor([[-2.],
            [ 0.],
            [ 2.]])
""",
)
