"""The docs of reading and writing at the positions that tensors of indices select.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "index",
    """
Read by a list of index tensors. The expression ``x[i, j]`` calls this op if the subscripts are tensors.

Args:
    indices: a tensor of integers or bools for each dimension, or None.

Shape: the shape of ``input``, with the broadcast shape of the indices in place of the indexed dimensions.

Raises:
    IndexError: an index is out of range.

Example:
    >>> torch.index(torch.tensor([10, 20, 30]), [torch.tensor([2, 0])])
    tensor([30, 10])
""",
)

add_docstr(
    "index_put",
    """
Write by a list of index tensors: return a copy of ``input`` after ``x[i, j] = values``.

Args:
    indices: a tensor of integers or bools for each dimension.
    values: a tensor that is broadcast to the shape of the indexed elements.
    accumulate: add ``values`` to the elements instead of replacing them.

Shape: the shape of ``input``.

Example:
    >>> torch.index_put(torch.zeros(3), (torch.tensor([2, 0]),), torch.tensor(7.0))
    tensor([7., 0., 7.])
""",
)

add_docstr(
    "nonzero",
    """
Return the coordinates of the elements that are not zero, in order.

Shape: any of n dimensions -> (count, n), of int64.

Example:
    >>> torch.nonzero(torch.tensor([[0, 1], [2, 0]]))
    tensor([[0, 1],
            [1, 0]])
""",
)

add_docstr(
    "nonzero_numpy",
    """
Return the coordinates of the elements that are not zero, as one vector for each dimension.

Shape: any of n dimensions -> n of (count,), of int64.

Example:
    >>> torch.nonzero(torch.tensor([[0, 1], [2, 0]]), as_tuple=True)
    (tensor([0, 1]), tensor([1, 0]))
""",
)

add_docstr(
    "nonzero_static",
    """
Return the coordinates of the elements that are not zero, in a given number of rows.

Args:
    size: the number of rows; further coordinates are dropped.
    fill_value: the value of the unused rows.

Shape: any of n dimensions -> (``size``, n), of int64.

Raises:
    RuntimeError: ``size`` is negative.

Example:
    >>> torch.nonzero_static(torch.tensor([0, 1, 2]), size=3)
    tensor([[ 1],
            [ 2],
            [-1]])
""",
)

add_docstr(
    "argwhere",
    """
Return the coordinates of the elements that are not zero, in order.

Shape: any of n dimensions -> (count, n), of int64.

Example:
    >>> torch.argwhere(torch.tensor([0, 1, 2]))
    tensor([[1],
            [2]])
""",
)
