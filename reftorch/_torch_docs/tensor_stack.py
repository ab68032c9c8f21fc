"""The docs of stacking tensors, and tiles.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "concat",
    """
Join tensors along an existing dimension: another name of :func:`cat`.

Shape: the sizes at ``dim`` added up.

Example:
    >>> torch.concat((torch.tensor([1, 2]), torch.tensor([3])))
    tensor([1, 2, 3])
""",
)

add_docstr(
    "concatenate",
    """
Join tensors along an existing dimension: numpy's name of :func:`cat`.

Shape: the sizes at ``dim`` added up.

Example:
    >>> torch.concatenate((torch.tensor([1, 2]), torch.tensor([3])))
    tensor([1, 2, 3])
""",
)

add_docstr(
    "hstack",
    """
Join tensors side by side: along the second dimension; vectors are joined along the first.

Shape: the sizes of that dimension added up.

Example:
    >>> torch.hstack((torch.tensor([[1], [2]]), torch.tensor([[3], [4]])))
    tensor([[1, 3],
            [2, 4]])
""",
)

add_docstr(
    "vstack",
    """
Join tensors one above the other; vectors become rows.

Shape: the sizes of the first dimension added up.

Example:
    >>> torch.vstack((torch.tensor([1, 2]), torch.tensor([3, 4])))
    tensor([[1, 2],
            [3, 4]])
""",
)

add_docstr(
    "row_stack",
    """
Join tensors one above the other: another name of :func:`vstack`.

Shape: the sizes of the first dimension added up.

Example:
    >>> torch.row_stack((torch.tensor([1, 2]), torch.tensor([3, 4])))
    tensor([[1, 2],
            [3, 4]])
""",
)

add_docstr(
    "dstack",
    """
Join tensors along the third dimension.

Shape: the sizes of the third dimension added up.

Example:
    >>> torch.dstack((torch.tensor([1, 2]), torch.tensor([3, 4]))).shape
    torch.Size([1, 2, 2])
""",
)

add_docstr(
    "column_stack",
    """
Join tensors side by side; vectors become columns.

Shape: the sizes of the second dimension added up.

Example:
    >>> torch.column_stack((torch.tensor([1, 2]), torch.tensor([3, 4])))
    tensor([[1, 3],
            [2, 4]])
""",
)

add_docstr(
    "tile",
    """
Copy the tensor several times along each dimension. If ``dims`` is shorter than the shape, the leading dimensions are
copied once.

Args:
    dims: the number of copies along each dimension.

Shape: the sizes times ``dims``.

Example:
    >>> torch.tile(torch.tensor([1, 2]), (2,))
    tensor([1, 2, 1, 2])
""",
)
