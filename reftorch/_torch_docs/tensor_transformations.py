"""The docs of reversing, rolling and rotating.

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
