"""The docs of changes of shape that consist of other views.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "is_same_size",
    """
Return whether both tensors have the same shape.

Shape: any -> a Python bool.

Example:
    >>> torch.ones(2, 3).is_same_size(torch.zeros(2, 3))
    True
""",
)

add_docstr(
    "broadcast_tensors",
    """
Return views of all tensors, expanded to their common shape.

Shape: broadcast(*``tensors``), for each.

Raises:
    RuntimeError: the tensors do not broadcast to a common shape.

Example:
    >>> torch.broadcast_tensors(torch.tensor([1, 2]), torch.tensor([[3], [4]]))[1]
    tensor([[3, 3],
            [4, 4]])
""",
)

add_docstr(
    "swapaxes",
    """
Return a view with two dimensions exchanged: numpy's name of :func:`transpose`.

Shape: the shape of ``input`` with the two sizes exchanged.

Example:
    >>> torch.swapaxes(torch.ones(2, 3), 0, 1).shape
    torch.Size([3, 2])
""",
)

add_docstr(
    "swapdims",
    """
Return a view with two dimensions exchanged: another name of :func:`transpose`.

Shape: the shape of ``input`` with the two sizes exchanged.

Example:
    >>> torch.swapdims(torch.ones(2, 3), 0, 1).shape
    torch.Size([3, 2])
""",
)

add_docstr(
    "adjoint",
    """
Return the transpose of each matrix. Complex matrices, which do not exist here, would be conjugated as well.

Shape: (*, M, N) -> (*, N, M); the result is a view.

Example:
    >>> torch.adjoint(torch.ones(5, 2, 3)).shape
    torch.Size([5, 3, 2])
""",
)

add_docstr(
    "numpy_T",
    """
Return the tensor with its dimensions in reverse order. The attribute ``T`` calls this op.

Shape: the sizes in reverse order; the result is a view.

Example:
    >>> torch.ones(2, 3).T.shape
    torch.Size([3, 2])
""",
)

add_docstr(
    "mT",
    """
Return the transpose of each matrix. The attribute ``mT`` calls this op.

Shape: (*, M, N) -> (*, N, M); the result is a view.

Example:
    >>> torch.ones(5, 2, 3).mT.shape
    torch.Size([5, 3, 2])
""",
)

add_docstr(
    "mH",
    """
Return the transpose of each matrix. The attribute ``mH`` calls this op.

Shape: (*, M, N) -> (*, N, M); the result is a view.

Example:
    >>> torch.ones(5, 2, 3).mH.shape
    torch.Size([5, 3, 2])
""",
)

add_docstr(
    "matrix_H",
    """
Return the transpose of a matrix. The attribute ``H`` calls this op.

Shape: (M, N) -> (N, M); the result is a view.

Example:
    >>> torch.ones(2, 3).H.shape
    torch.Size([3, 2])
""",
)

add_docstr(
    "flatten",
    """
Merge the dimensions from ``start_dim`` to ``end_dim`` into one. The result is a view if the strides allow one.

Shape: the shape of ``input`` with these sizes replaced by their product.

Example:
    >>> torch.flatten(torch.ones(2, 3, 5), 1).shape
    torch.Size([2, 15])
""",
)

add_docstr(
    "unflatten",
    """
Split a dimension into several.

Args:
    sizes: the sizes of the new dimensions; one size may be -1.

Shape: the shape of ``input`` with ``sizes`` in place of ``dim``.

Raises:
    RuntimeError: the product of ``sizes`` is not the size of ``dim``.

Example:
    >>> torch.unflatten(torch.arange(6), 0, (2, 3))
    tensor([[0, 1, 2],
            [3, 4, 5]])
""",
)

add_docstr(
    "ravel",
    """
Return the elements as a vector: a view if the strides allow one.

Shape: any -> (numel,).

Example:
    >>> torch.ravel(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 2, 3, 4])
""",
)

add_docstr(
    "movedim",
    """
Return a view in which dimensions are moved to other positions; the other dimensions keep their order.

Args:
    source: the dimension or dimensions to move.
    destination: the new position of each dimension in ``source``.

Shape: the sizes of ``input`` in the new order of the dimensions.

Example:
    >>> torch.movedim(torch.ones(2, 3, 5), 0, -1).shape
    torch.Size([3, 5, 2])
""",
)

add_docstr(
    "moveaxis",
    """
Return a view in which dimensions are moved to other positions: numpy's name of :func:`movedim`.

Shape: the sizes of ``input`` in the new order of the dimensions.

Example:
    >>> torch.moveaxis(torch.ones(2, 3, 5), 0, -1).shape
    torch.Size([3, 5, 2])
""",
)

add_docstr(
    "atleast_1d",
    """
Return ``input`` with one dimension at least. Several tensors are converted one by one.

Shape: () -> (1,); other shapes are unchanged.

Example:
    >>> torch.atleast_1d(torch.tensor(5))
    tensor([5])
""",
)

add_docstr(
    "atleast_2d",
    """
Return ``input`` with two dimensions at least. Several tensors are converted one by one.

Shape: () -> (1, 1); (N,) -> (1, N); other shapes are unchanged.

Example:
    >>> torch.atleast_2d(torch.tensor([1, 2]))
    tensor([[1, 2]])
""",
)

add_docstr(
    "atleast_3d",
    """
Return ``input`` with three dimensions at least. Several tensors are converted one by one.

Shape: () -> (1, 1, 1); (N,) -> (1, N, 1); (M, N) -> (M, N, 1); other shapes are unchanged.

Example:
    >>> torch.atleast_3d(torch.tensor([1, 2])).shape
    torch.Size([1, 2, 1])
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
