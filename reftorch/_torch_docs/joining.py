"""Splitting, joining and repeating tensors.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "unbind",
    """
Return views of all slices along ``dim``, as a tuple.

Shape: the shape of ``input`` without ``dim``, for each.

Example:
    >>> torch.unbind(torch.tensor([[1, 2], [3, 4]]))
    (tensor([1, 2]), tensor([3, 4]))
""",
)

add_docstr(
    "split",
    """
Split along ``dim`` into parts of ``split_size`` (the last may be smaller), or of given sizes.

Args:
    split_size: an int, or a list of sizes that add up to the size of ``dim``.

Shape: views of ``input``.

Example:
    >>> torch.split(torch.arange(5), 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
""",
)

add_docstr(
    "split_with_sizes",
    """
Split along ``dim`` into parts of given sizes.

Args:
    split_sizes: the sizes of the parts, which add up to the size of ``dim``.

Shape: views of ``input``.

Example:
    >>> torch.split_with_sizes(torch.arange(3), [1, 2])
    (tensor([0]), tensor([1, 2]))
""",
)

add_docstr(
    "chunk",
    """
Split along ``dim`` into at most ``chunks`` parts of equal size (the last may be smaller).

Shape: views of ``input``.

Example:
    >>> torch.chunk(torch.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
""",
)

add_docstr(
    "unsafe_split",
    """
Split as :func:`split` does, for a caller who promises to write to at most one of the parts.

Shape: parts of ``input``.

Example:
    >>> torch.unsafe_split(torch.arange(3), 2)
    (tensor([0, 1]), tensor([2]))
""",
)

add_docstr(
    "unsafe_split_with_sizes",
    """
Split as :func:`split_with_sizes` does, for a caller who promises to write to at most one of the parts.

Shape: parts of ``input``.

Example:
    >>> torch.unsafe_split_with_sizes(torch.arange(3), [1, 2])
    (tensor([0]), tensor([1, 2]))
""",
)

add_docstr(
    "unsafe_chunk",
    """
Split as :func:`chunk` does, for a caller who promises to write to at most one of the parts.

Shape: parts of ``input``.

Example:
    >>> torch.unsafe_chunk(torch.arange(3), 2)
    (tensor([0, 1]), tensor([2]))
""",
)

add_docstr(
    "tensor_split",
    """
Split along ``dim`` into parts of nearly equal size, or before given indices.

Args:
    sections: the number of parts.
    indices: the indices to split at: a list, or a tensor of int64.

Shape: views of ``input``.

Example:
    >>> torch.tensor_split(torch.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    >>> torch.tensor_split(torch.arange(5), (1, 3))
    (tensor([0]), tensor([1, 2]), tensor([3, 4]))
""",
)

add_docstr(
    "hsplit",
    """
Split into parts side by side: along the second dimension, or along the first dimension of a vector.

Args:
    sections: the number of parts.
    indices: the indices to split at.

Shape: views of ``input``.

Example:
    >>> torch.hsplit(torch.tensor([[1, 2], [3, 4]]), 2)
    (tensor([[1],
            [3]]), tensor([[2],
            [4]]))
""",
)

add_docstr(
    "vsplit",
    """
Split into parts one above the other: along the first dimension.

Args:
    sections: the number of parts.
    indices: the indices to split at.

Shape: views of ``input``.

Raises:
    RuntimeError: there are fewer than two dimensions.

Example:
    >>> torch.vsplit(torch.tensor([[1, 2], [3, 4]]), 2)
    (tensor([[1, 2]]), tensor([[3, 4]]))
""",
)

add_docstr(
    "dsplit",
    """
Split along the third dimension.

Args:
    sections: the number of parts.
    indices: the indices to split at.

Shape: views of ``input``.

Raises:
    RuntimeError: there are fewer than three dimensions.

Example:
    >>> torch.dsplit(torch.ones(1, 1, 4), 2)[0].shape
    torch.Size([1, 1, 2])
""",
)

add_docstr(
    "cat",
    """
Join tensors along an existing dimension.

Args:
    tensors: the tensors; their shapes are equal except at ``dim``. Empty vectors are ignored.

Shape: the sizes at ``dim`` added up.

Raises:
    RuntimeError: the shapes do not match, or the list is empty.

Example:
    >>> torch.cat((torch.tensor([1, 2]), torch.tensor([3])))
    tensor([1, 2, 3])
""",
)

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
    "stack",
    """
Join tensors of one shape along a new dimension.

Shape: the shape of each tensor, with the number of tensors inserted at ``dim``.

Raises:
    RuntimeError: the shapes differ.

Example:
    >>> torch.stack((torch.tensor([1, 2]), torch.tensor([3, 4])))
    tensor([[1, 2],
            [3, 4]])
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
    "repeat",
    """
Copy the tensor several times along each dimension.

Args:
    repeats: the number of copies along each dimension, as ints or as one tuple; new dimensions are in front.

Shape: the sizes times ``repeats``.

Example:
    >>> torch.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
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

add_docstr(
    "repeat_interleave",
    """
Repeat each element, one after the other.

Args:
    repeats: an int, or a number for each element. If ``repeats`` is the only argument, each index is returned as often
        as its number says.
    dim: repeat slices along this dimension; without ``dim``, repeat the elements of the flattened tensor.
    output_size: the length of the result, if the caller knows it.

Shape: the repeats added up at ``dim``.

Example:
    >>> torch.repeat_interleave(torch.tensor([1, 2]), torch.tensor([1, 2]))
    tensor([1, 2, 2])
""",
)
