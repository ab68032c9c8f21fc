"""Reversing and rolling; triangles and diagonals; grids and combinations.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "flip",
    """
Reverse the order along ``dims``; always a copy.

Shape: the shape of ``input``.

Example:
    >>> torch.flip(torch.tensor([[1, 2], [3, 4]]), (0,))
    tensor([[3, 4],
            [1, 2]])
""",
)

add_docstr(
    "fliplr",
    """
Reverse the order of the columns.

Shape: the shape of ``input``, of two dimensions at least.

Example:
    >>> torch.fliplr(torch.tensor([[1, 2], [3, 4]]))
    tensor([[2, 1],
            [4, 3]])
""",
)

add_docstr(
    "flipud",
    """
Reverse the order of the rows.

Shape: the shape of ``input``, of one dimension at least.

Example:
    >>> torch.flipud(torch.tensor([[1, 2], [3, 4]]))
    tensor([[3, 4],
            [1, 2]])
""",
)

add_docstr(
    "roll",
    """
Shift along ``dims``. Elements that are shifted past the end return at the start.

Args:
    shifts: the distance for each dimension.
    dims: the dimensions; without ``dims``, the flattened tensor is shifted.

Shape: the shape of ``input``.

Example:
    >>> torch.roll(torch.tensor([1, 2, 3]), 1)
    tensor([3, 1, 2])
""",
)

add_docstr(
    "rot90",
    """
Rotate by ``k`` times 90 degrees, from the first of ``dims`` towards the second.

Args:
    dims: two dimensions.

Shape: the shape of ``input``, with the two sizes exchanged if ``k`` is odd.

Example:
    >>> torch.rot90(torch.tensor([[1, 2], [3, 4]]))
    tensor([[2, 4],
            [1, 3]])
""",
)

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
    "meshgrid",
    """
Return the coordinates of a grid: a tensor for each vector.

Args:
    tensors: vectors, or numbers.
    indexing: "ij": the first vector runs along the first dimension; "xy": along the second.

Shape: (N1,), (N2,), ... -> (N1, N2, ...), for each.

Example:
    >>> torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4]), indexing="ij")[0]
    tensor([[1, 1],
            [2, 2]])
""",
)

add_docstr(
    "cartesian_prod",
    """
Return all tuples of one element from each vector, as rows.

Shape: (N1,), (N2,), ... -> (N1 * N2 * ..., count).

Example:
    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor([[1, 3],
            [1, 4],
            [2, 3],
            [2, 4]])
""",
)

add_docstr(
    "combinations",
    """
Return all choices of ``r`` elements of a vector, as rows.

Args:
    with_replacement: an element may be chosen more than once.

Shape: (N,) -> (count, ``r``).

Example:
    >>> torch.combinations(torch.tensor([1, 2, 3]))
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
""",
)

add_docstr(
    "block_diag",
    """
Return the matrix that has the given matrices along its diagonal.

Shape: (M1, N1), (M2, N2), ... -> (M1 + M2 + ..., N1 + N2 + ...).

Example:
    >>> torch.block_diag(torch.tensor([[1, 2]]), torch.tensor([[3]]))
    tensor([[1, 2, 0],
            [0, 0, 3]])
""",
)
