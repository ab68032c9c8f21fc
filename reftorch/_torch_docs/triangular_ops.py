"""The docs of triangles and diagonals of matrices.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "tril",
    """
Return the lower triangle of each matrix, with zeros above.

Args:
    diagonal: the highest diagonal to keep: 0 is the main diagonal.

Shape: the shape of ``input``.

Example:
    >>> torch.tril(torch.ones(2, 2))
    tensor([[1., 0.],
            [1., 1.]])
""",
)

add_docstr(
    "triu",
    """
Return the upper triangle of each matrix, with zeros below.

Args:
    diagonal: the lowest diagonal to keep: 0 is the main diagonal.

Shape: the shape of ``input``.

Example:
    >>> torch.triu(torch.ones(2, 2))
    tensor([[1., 1.],
            [0., 1.]])
""",
)

add_docstr(
    "diag",
    """
Return the diagonal of a matrix, or the matrix that has a vector on its diagonal.

Args:
    diagonal: the diagonal: 0 is the main diagonal, positive numbers are above it, negative ones below it.

Shape: (N,) -> (N, N); (M, N) -> (length,).

Example:
    >>> torch.diag(torch.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
""",
)

add_docstr(
    "diag_embed",
    """
Return matrices that have the vectors of the last dimension on a diagonal.

Args:
    offset: the diagonal: 0 is the main diagonal, positive numbers are above it, negative ones below it.
    dim1: the dimension of the rows.
    dim2: the dimension of the columns.

Shape: (*, N) -> (*, N, N).

Example:
    >>> torch.diag_embed(torch.tensor([[1, 2]]))
    tensor([[[1, 0],
             [0, 2]]])
""",
)

add_docstr(
    "diagflat",
    """
Return the matrix that has all elements, in order, on a diagonal.

Args:
    offset: the diagonal: 0 is the main diagonal, positive numbers are above it, negative ones below it.

Shape: any -> (numel, numel).

Example:
    >>> torch.diagflat(torch.tensor([[1], [2]]))
    tensor([[1, 0],
            [0, 2]])
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
