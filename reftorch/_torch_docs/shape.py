"""Shapes: views, permutations, new and joined dimensions, windows.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "view",
    """
Return the same memory in another shape, or with its bytes read as another dtype.

Args:
    size: the shape, as ints or as one tuple; one of them may be -1 and follows from the rest.
    dtype: read the bytes as this dtype.

Shape: ``size``; the result is a view.

Raises:
    RuntimeError: the number of elements differs, or the strides do not allow it: use :func:`reshape`.

Example:
    >>> torch.arange(6).view(2, -1)
    tensor([[0, 1, 2],
            [3, 4, 5]])
""",
)

add_docstr(
    "reshape",
    """
Return the elements in another shape: a view where the strides allow it, else a copy.

Args:
    shape: as a tuple; one size may be -1 and follows from the rest.

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
Return a view of the memory with the given shape and strides, whatever those of ``input`` are.

Args:
    size: the shape.
    stride: how many elements lie between neighbours, for each dimension.
    storage_offset: where in the memory to begin; where ``input`` begins by default.

Shape: ``size``.

Raises:
    RuntimeError: it reaches beyond the memory.

Example:
    >>> torch.as_strided(torch.arange(6), (2, 2), (1, 2))
    tensor([[0, 2],
            [1, 3]])
""",
)

add_docstr(
    "alias",
    """
Return a view of ``input`` that is the same in all.

Shape: that of ``input``.

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
    size: the shape, as ints or as one tuple; -1 leaves a size as it is. New dimensions come first.
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

Shape: that of ``other``.

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
    RuntimeError: ``input`` does not broadcast to it.

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
    RuntimeError: they have no common shape.

Example:
    >>> torch.broadcast_tensors(torch.tensor([1, 2]), torch.tensor([[3], [4]]))[1]
    tensor([[3, 3],
            [4, 4]])
""",
)

add_docstr(
    "view_as",
    """
Return the same memory in the shape of ``other``.

Shape: that of ``other``; the result is a view.

Example:
    >>> torch.arange(4).view_as(torch.ones(2, 2))
    tensor([[0, 1],
            [2, 3]])
""",
)

add_docstr(
    "reshape_as",
    """
Return the elements in the shape of ``other``.

Shape: that of ``other``.

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
    dims: which dimension comes first, second, ...

Shape: the sizes in that order.

Example:
    >>> torch.permute(torch.ones(2, 3, 5), (2, 0, 1)).shape
    torch.Size([5, 2, 3])
""",
)

add_docstr(
    "transpose",
    """
Return a view with two dimensions exchanged.

Shape: that of ``input`` with ``dim0`` and ``dim1`` exchanged.

Example:
    >>> torch.transpose(torch.tensor([[1, 2], [3, 4]]), 0, 1)
    tensor([[1, 3],
            [2, 4]])
""",
)

add_docstr(
    "swapaxes",
    """
Return a view with two dimensions exchanged: :func:`transpose`, by numpy's name.

Shape: that of ``input`` with both exchanged.

Example:
    >>> torch.swapaxes(torch.ones(2, 3), 0, 1).shape
    torch.Size([3, 2])
""",
)

add_docstr(
    "swapdims",
    """
Return a view with two dimensions exchanged: :func:`transpose`.

Shape: that of ``input`` with both exchanged.

Example:
    >>> torch.swapdims(torch.ones(2, 3), 0, 1).shape
    torch.Size([3, 2])
""",
)

add_docstr(
    "t",
    """
Return the transpose of a matrix; vectors and numbers as they are.

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
Return each matrix transposed (and conjugated, were it complex).

Shape: (*, M, N) -> (*, N, M); the result is a view.

Example:
    >>> torch.adjoint(torch.ones(5, 2, 3)).shape
    torch.Size([5, 3, 2])
""",
)

add_docstr(
    "numpy_T",
    """
Return the tensor with its dimensions in reverse: what the attribute ``T`` calls.

Shape: the sizes in reverse; the result is a view.

Example:
    >>> torch.ones(2, 3).T.shape
    torch.Size([3, 2])
""",
)

add_docstr(
    "mT",
    """
Return each matrix transposed: what the attribute ``mT`` calls.

Shape: (*, M, N) -> (*, N, M); the result is a view.

Example:
    >>> torch.ones(5, 2, 3).mT.shape
    torch.Size([5, 3, 2])
""",
)

add_docstr(
    "mH",
    """
Return each matrix transposed: what the attribute ``mH`` calls.

Shape: (*, M, N) -> (*, N, M); the result is a view.

Example:
    >>> torch.ones(5, 2, 3).mH.shape
    torch.Size([5, 3, 2])
""",
)

add_docstr(
    "matrix_H",
    """
Return the matrix transposed: what the attribute ``H`` calls.

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

Shape: that of ``input`` with 1 inserted.

Example:
    >>> torch.unsqueeze(torch.tensor([1, 2]), 1)
    tensor([[1],
            [2]])
""",
)

add_docstr(
    "squeeze",
    """
Return a view without dimensions of size 1: without all of them, or without those of ``dim`` that are.

Args:
    dim: dimension or dimensions to look at.

Shape: that of ``input`` without them.

Example:
    >>> torch.squeeze(torch.ones(1, 2, 1)).shape, torch.squeeze(torch.ones(1, 2, 1), 0).shape
    (torch.Size([2]), torch.Size([2, 1]))
""",
)

add_docstr(
    "flatten",
    """
Join the dimensions from ``start_dim`` to ``end_dim`` to one: a view where the strides allow it.

Shape: that of ``input`` with the product of their sizes in their place.

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
    sizes: their sizes; one may be -1.

Shape: that of ``input`` with ``sizes`` in the place of ``dim``.

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
Return the elements as one vector: a view where the strides allow it.

Shape: any -> (numel,).

Example:
    >>> torch.ravel(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 2, 3, 4])
""",
)

add_docstr(
    "movedim",
    """
Return a view in which dimensions are moved to other places; the others keep their order.

Args:
    source: dimension or dimensions to move.
    destination: where they go.

Shape: the sizes in that order.

Example:
    >>> torch.movedim(torch.ones(2, 3, 5), 0, -1).shape
    torch.Size([3, 5, 2])
""",
)

add_docstr(
    "moveaxis",
    """
Return a view in which dimensions are moved to other places: :func:`movedim`, by numpy's name.

Shape: the sizes in that order.

Example:
    >>> torch.moveaxis(torch.ones(2, 3, 5), 0, -1).shape
    torch.Size([3, 5, 2])
""",
)

add_docstr(
    "atleast_1d",
    """
Return ``input`` with one dimension at least; of several tensors, each.

Shape: () -> (1,); others as they are.

Example:
    >>> torch.atleast_1d(torch.tensor(5))
    tensor([5])
""",
)

add_docstr(
    "atleast_2d",
    """
Return ``input`` with two dimensions at least; of several tensors, each.

Shape: () -> (1, 1); (N,) -> (1, N); others as they are.

Example:
    >>> torch.atleast_2d(torch.tensor([1, 2]))
    tensor([[1, 2]])
""",
)

add_docstr(
    "atleast_3d",
    """
Return ``input`` with three dimensions at least; of several tensors, each.

Shape: () -> (1, 1, 1); (N,) -> (1, N, 1); (M, N) -> (M, N, 1); others as they are.

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
