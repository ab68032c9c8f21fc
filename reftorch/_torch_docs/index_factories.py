"""The docs of the indices of triangles.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "tril_indices",
    """
Return the coordinates of the elements on and below a diagonal, row by row.

Args:
    row: the number of rows of the matrix.
    col: the number of columns of the matrix.
    offset: the diagonal: 0 is the main diagonal, positive numbers are above it, negative ones below it.

Shape: (2, count), of int64.

Example:
    >>> torch.tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
""",
)

add_docstr(
    "triu_indices",
    """
Return the coordinates of the elements on and above a diagonal, row by row.

Args:
    row: the number of rows of the matrix.
    col: the number of columns of the matrix.
    offset: the diagonal: 0 is the main diagonal, positive numbers are above it, negative ones below it.

Shape: (2, count), of int64.

Example:
    >>> torch.triu_indices(2, 2)
    tensor([[0, 0, 1],
            [0, 1, 1]])
""",
)
