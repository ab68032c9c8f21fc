"""The docs of grids, products and combinations of the elements of tensors.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

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
