"""What a view shows, copied: results that share no memory with ``input``.

Mirrors: torch/_torch_docs.py
Leaves out: nothing.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "alias_copy",
    """
Return a copy, with the strides of a new tensor.

Shape: that of ``input``.

Example:
    >>> x = torch.ones(2)
    >>> torch.alias_copy(x).add_(1), x
    (tensor([2., 2.]), tensor([1., 1.]))
""",
)

add_docstr(
    "detach_copy",
    """
Return a copy of what :func:`detach` shows.

Shape: that of ``input``.

Example:
    >>> torch.detach_copy(torch.tensor([1, 2]))
    tensor([1, 2])
""",
)

add_docstr(
    "as_strided_copy",
    """
Return a copy of what :func:`as_strided` shows of the memory.

Args:
    size: the shape of the result.
    stride: how far apart in memory the elements along each dimension are.
    storage_offset: where in memory the first one is; that of ``input`` by default.

Shape: ``size``.

Example:
    >>> torch.as_strided_copy(torch.arange(6), (2, 2), (1, 2))
    tensor([[0, 2],
            [1, 3]])
""",
)

add_docstr(
    "diagonal_copy",
    """
Return a copy of what :func:`diagonal` shows.

Args:
    offset: which diagonal: above the main one, or below it where negative.
    dim1: the first dimension of the matrices.
    dim2: the second one.

Shape: that of ``input`` without the two dimensions, then the length of the diagonal.

Example:
    >>> torch.diagonal_copy(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
""",
)

add_docstr(
    "expand_copy",
    """
Return ``input`` broadcast to a shape, each element in memory of its own.

Args:
    size: the new shape; -1 keeps the size of a dimension.

Shape: ``size``.

Example:
    >>> torch.expand_copy(torch.tensor([[1], [2]]), (2, 2))
    tensor([[1, 1],
            [2, 2]])
""",
)

add_docstr(
    "permute_copy",
    """
Return a copy of what :func:`permute` shows.

Args:
    dims: every dimension, in the new order.

Shape: the sizes of ``input`` in the order of ``dims``.

Example:
    >>> torch.permute_copy(torch.tensor([[1, 2], [3, 4]]), (1, 0))
    tensor([[1, 3],
            [2, 4]])
""",
)

add_docstr(
    "select_copy",
    """
Return a copy of what :func:`select` shows.

Args:
    dim: the dimension that goes.
    index: the place in it.

Shape: that of ``input`` without ``dim``.

Example:
    >>> torch.select_copy(torch.tensor([[1, 2], [3, 4]]), 0, 1)
    tensor([3, 4])
""",
)

add_docstr(
    "slice_copy",
    """
Return a copy of ``input[start:end:step]``, along one dimension.

Args:
    dim: the dimension that is sliced.
    start: the first place; 0 by default.
    end: the place after the last; the size by default.
    step: how far apart the places are.

Shape: that of ``input``, but for ``dim``.

Example:
    >>> torch.slice_copy(torch.arange(6), 0, 1, 6, 2)
    tensor([1, 3, 5])
""",
)

add_docstr(
    "split_copy",
    """
Return copies of the parts that :func:`split` shows.

Args:
    split_size: the size of each part; the last may be smaller.
    dim: the dimension that is split.

Shape: each that of ``input``, but for ``dim``.

Example:
    >>> torch.split_copy(torch.arange(3), 2)
    (tensor([0, 1]), tensor([2]))
""",
)

add_docstr(
    "split_with_sizes_copy",
    """
Return copies of the parts that :func:`split_with_sizes` shows.

Args:
    split_sizes: the size of each part; they add up to that of ``dim``.
    dim: the dimension that is split.

Shape: each that of ``input``, but for ``dim``.

Example:
    >>> torch.split_with_sizes_copy(torch.arange(3), (1, 2))
    (tensor([0]), tensor([1, 2]))
""",
)

add_docstr(
    "squeeze_copy",
    """
Return a copy without the dimensions of size 1.

Args:
    dim: look at this dimension only, or at these.

Shape: that of ``input`` without those dimensions.

Example:
    >>> torch.squeeze_copy(torch.ones(1, 2, 1)).shape
    torch.Size([2])
""",
)

add_docstr(
    "t_copy",
    """
Return a copy of what :func:`t` shows: the transpose of a matrix.

Shape: (M, N) -> (N, M); a vector keeps its shape.

Example:
    >>> torch.t_copy(torch.tensor([[1, 2], [3, 4]]))
    tensor([[1, 3],
            [2, 4]])
""",
)

add_docstr(
    "transpose_copy",
    """
Return a copy of what :func:`transpose` shows.

Args:
    dim0: one of the dimensions that change places.
    dim1: the other.

Shape: that of ``input``, with two sizes exchanged.

Example:
    >>> torch.transpose_copy(torch.tensor([[1, 2], [3, 4]]), 0, 1)
    tensor([[1, 3],
            [2, 4]])
""",
)

add_docstr(
    "unbind_copy",
    """
Return copies of the slices that :func:`unbind` shows.

Args:
    dim: the dimension that goes.

Shape: each that of ``input`` without ``dim``.

Example:
    >>> torch.unbind_copy(torch.tensor([[1, 2], [3, 4]]))
    (tensor([1, 2]), tensor([3, 4]))
""",
)

add_docstr(
    "unfold_copy",
    """
Return a copy of the windows that :meth:`Tensor.unfold` shows.

Args:
    dimension: the dimension that the windows lie along.
    size: the size of a window.
    step: how far apart they begin.

Shape: the number of windows in place of ``dimension``, and ``size`` at the end.

Example:
    >>> torch.unfold_copy(torch.arange(4), 0, 2, 1)
    tensor([[0, 1],
            [1, 2],
            [2, 3]])
""",
)

add_docstr(
    "unsqueeze_copy",
    """
Return a copy with one dimension of size 1 more.

Args:
    dim: where the dimension goes.

Shape: that of ``input``, with 1 at ``dim``.

Example:
    >>> torch.unsqueeze_copy(torch.tensor([1, 2]), 0)
    tensor([[1, 2]])
""",
)

add_docstr(
    "view_copy",
    """
Return a copy of the elements in another shape.

Args:
    size: the new shape; one size may be -1: what is left.

Shape: ``size``.

Example:
    >>> torch.view_copy(torch.arange(4), (2, 2))
    tensor([[0, 1],
            [2, 3]])
""",
)
