"""Shapes: views, permutations, added, removed and merged dimensions, windows.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "view",
    """
Return a view of the memory with a different shape, or with its bytes read as a different dtype.

Args:
    size: the shape, as ints or as one tuple; one size may be -1 and is computed from the others.
    dtype: the dtype as which the bytes are read.

Shape: ``size``; the result is a view.

Raises:
    RuntimeError: the number of elements differs, or the strides do not allow a view; use :func:`reshape` then.

Example:
    >>> torch.arange(6).view(2, -1)
    tensor([[0, 1, 2],
            [3, 4, 5]])
""",
)

add_docstr(
    "reshape",
    """
Return the elements in another shape: a view if the strides allow one, else a copy.

Args:
    shape: the shape, as a tuple; one size may be -1 and is computed from the others.

Shape: ``shape``.

Raises:
    RuntimeError: the number of elements differs.

Example:
    >>> torch.reshape(torch.arange(6), (2, 3))
    tensor([[0, 1, 2],
            [3, 4, 5]])
""",
)

add_docstr(
    "as_strided",
    """
Return a view of the memory with the given shape and strides. The shape and the strides of ``input`` are ignored.

Args:
    size: the shape.
    stride: for each dimension, the distance in memory between neighbours, in elements.
    storage_offset: the index of the first element in the memory; by default that of ``input``.

Shape: ``size``.

Raises:
    RuntimeError: the view would reach beyond the memory.

Example:
    >>> torch.as_strided(torch.arange(6), (2, 2), (1, 2))
    tensor([[0, 2],
            [1, 3]])
""",
)

add_docstr(
    "alias",
    """
Return a view of ``input`` with the same shape and strides.

Shape: the shape of ``input``.

Example:
    >>> torch.alias(torch.tensor([1, 2]))
    tensor([1, 2])
""",
)

add_docstr(
    "expand",
    """
Return a view in which dimensions of size 1 are repeated, without a copy.

Args:
    size: the shape, as ints or as one tuple; -1 keeps a size. New dimensions are in front.
    implicit: has no effect on the result.

Shape: ``size``.

Raises:
    RuntimeError: a size other than 1 would change.

Example:
    >>> torch.tensor([[1], [2]]).expand(2, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
""",
)

add_docstr(
    "expand_as",
    """
Return a view expanded to the shape of ``other``.

Shape: the shape of ``other``.

Example:
    >>> torch.tensor([[1], [2]]).expand_as(torch.ones(2, 3))
    tensor([[1, 1, 1],
            [2, 2, 2]])
""",
)

add_docstr(
    "broadcast_to",
    """
Return a view of ``input`` expanded to ``size``.

Shape: ``size``.

Raises:
    RuntimeError: ``input`` does not broadcast to ``size``.

Example:
    >>> torch.broadcast_to(torch.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
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
    "view_as",
    """
Return a view of the memory with the shape of ``other``.

Shape: the shape of ``other``; the result is a view.

Example:
    >>> torch.arange(4).view_as(torch.ones(2, 2))
    tensor([[0, 1],
            [2, 3]])
""",
)

add_docstr(
    "reshape_as",
    """
Return the elements in the shape of ``other``: a view if the strides allow one, else a copy.

Shape: the shape of ``other``.

Example:
    >>> torch.arange(4).reshape_as(torch.ones(2, 2))
    tensor([[0, 1],
            [2, 3]])
""",
)

add_docstr(
    "permute",
    """
Return a view with the dimensions in another order.

Args:
    dims: all dimensions, in the new order.

Shape: the sizes of ``input`` in the new order of the dimensions.

Example:
    >>> torch.permute(torch.ones(2, 3, 5), (2, 0, 1)).shape
    torch.Size([5, 2, 3])
""",
)

add_docstr(
    "transpose",
    """
Return a view with two dimensions exchanged.

Shape: the shape of ``input`` with ``dim0`` and ``dim1`` exchanged.

Example:
    >>> torch.transpose(torch.tensor([[1, 2], [3, 4]]), 0, 1)
    tensor([[1, 3],
            [2, 4]])
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
    "t",
    """
Return the transpose of a matrix. A vector or a number is returned unchanged.

Shape: (M, N) -> (N, M); the result is a view.

Raises:
    RuntimeError: there are more than two dimensions.

Example:
    >>> torch.t(torch.tensor([[1, 2], [3, 4]]))
    tensor([[1, 3],
            [2, 4]])
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
    "unsqueeze",
    """
Return a view with a new dimension of size 1 at ``dim``.

Shape: the shape of ``input`` with 1 inserted.

Example:
    >>> torch.unsqueeze(torch.tensor([1, 2]), 1)
    tensor([[1],
            [2]])
""",
)

add_docstr(
    "squeeze",
    """
Return a view without dimensions of size 1: without all of them, or without those that ``dim`` lists.

Args:
    dim: the dimension or dimensions to remove if their size is 1.

Shape: the shape of ``input`` without these dimensions.

Example:
    >>> torch.squeeze(torch.ones(1, 2, 1)).shape, torch.squeeze(torch.ones(1, 2, 1), 0).shape
    (torch.Size([2]), torch.Size([2, 1]))
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
    "unfold",
    """
Return a view of all windows of ``size`` elements along a dimension, ``step`` apart.

Shape: (..., (N - ``size``) / ``step`` + 1, ..., ``size``).

Raises:
    RuntimeError: ``size`` is above the size of the dimension, or ``step`` is not positive.

Example:
    >>> torch.arange(4).unfold(0, 2, 1)
    tensor([[0, 1],
            [1, 2],
            [2, 3]])
""",
)
