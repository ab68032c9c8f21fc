"""The docs of views whose results are copied.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "alias_copy",
    """
Return a copy that has the strides of a new tensor.

Shape: the shape of ``input``.

Example:
    >>> x = torch.ones(2)
    >>> torch.alias_copy(x).add_(1), x
    (tensor([2., 2.]), tensor([1., 1.]))
""",
)

add_docstr(
    "detach_copy",
    """
Return a copy of the result of :func:`detach`.

Shape: the shape of ``input``.

Example:
    >>> torch.detach_copy(torch.tensor([1, 2]))
    tensor([1, 2])
""",
)

add_docstr(
    "as_strided_copy",
    """
Return a copy of the result of :func:`as_strided`.

Args:
    size: the shape of the result.
    stride: for each dimension, the distance in memory between neighbours, in elements.
    storage_offset: the index of the first element in the memory; by default that of ``input``.

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
Return a copy of the result of :func:`diagonal`.

Args:
    offset: the diagonal: 0 is the main diagonal, positive numbers are above it, negative ones below it.
    dim1: the first dimension of the matrices.
    dim2: the second dimension of the matrices.

Shape: the shape of ``input`` without the two dimensions, then the length of the diagonal.

Example:
    >>> torch.diagonal_copy(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
""",
)

add_docstr(
    "expand_copy",
    """
Return ``input`` broadcast to a shape. Each element has its own memory.

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
Return a copy of the result of :func:`permute`.

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
Return a copy of the result of :func:`select`.

Args:
    dim: the dimension that is removed.
    index: the index along this dimension.

Shape: the shape of ``input`` without ``dim``.

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
    start: the first index; 0 by default.
    end: the index after the last one; the size by default.
    step: the distance between the indices.

Shape: the shape of ``input``, except at ``dim``.

Example:
    >>> torch.slice_copy(torch.arange(6), 0, 1, 6, 2)
    tensor([1, 3, 5])
""",
)

add_docstr(
    "split_copy",
    """
Return copies of the results of :func:`split`.

Args:
    split_size: the size of each part; the last may be smaller.
    dim: the dimension that is split.

Shape: for each, the shape of ``input``, except at ``dim``.

Example:
    >>> torch.split_copy(torch.arange(3), 2)
    (tensor([0, 1]), tensor([2]))
""",
)

add_docstr(
    "split_with_sizes_copy",
    """
Return copies of the results of :func:`split_with_sizes`.

Args:
    split_sizes: the size of each part; they add up to the size of ``dim``.
    dim: the dimension that is split.

Shape: for each, the shape of ``input``, except at ``dim``.

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
    dim: remove only this dimension, or these dimensions.

Shape: the shape of ``input`` without those dimensions.

Example:
    >>> torch.squeeze_copy(torch.ones(1, 2, 1)).shape
    torch.Size([2])
""",
)

add_docstr(
    "t_copy",
    """
Return a copy of the result of :func:`t`: the transpose of a matrix.

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
Return a copy of the result of :func:`transpose`.

Args:
    dim0: the first of the dimensions to exchange.
    dim1: the second of the dimensions to exchange.

Shape: the shape of ``input``, with two sizes exchanged.

Example:
    >>> torch.transpose_copy(torch.tensor([[1, 2], [3, 4]]), 0, 1)
    tensor([[1, 3],
            [2, 4]])
""",
)

add_docstr(
    "unbind_copy",
    """
Return copies of the results of :func:`unbind`.

Args:
    dim: the dimension that is removed.

Shape: for each, the shape of ``input`` without ``dim``.

Example:
    >>> torch.unbind_copy(torch.tensor([[1, 2], [3, 4]]))
    (tensor([1, 2]), tensor([3, 4]))
""",
)

add_docstr(
    "unfold_copy",
    """
Return a copy of the result of :meth:`Tensor.unfold`.

Args:
    dimension: the dimension of the windows.
    size: the size of a window.
    step: the distance between the beginnings of neighbouring windows.

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
Return a copy with one more dimension, of size 1.

Args:
    dim: the position of the new dimension.

Shape: the shape of ``input``, with 1 at ``dim``.

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
    size: the new shape; one size may be -1 and is computed from the others.

Shape: ``size``.

Example:
    >>> torch.view_copy(torch.arange(4), (2, 2))
    tensor([[0, 1],
            [2, 3]])
""",
)
