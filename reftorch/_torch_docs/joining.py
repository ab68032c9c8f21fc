"""Splitting, joining, repeating.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "unbind",
    """
Return views of all slices along ``dim``, as a tuple.

Shape: that of ``input`` without ``dim``, for each.

Example:
    >>> torch.unbind(torch.tensor([[1, 2], [3, 4]]))
    (tensor([1, 2]), tensor([3, 4]))
""",
)

add_docstr(
    "split",
    """
Cut along ``dim`` into parts of ``split_size`` (the last may be smaller), or of given sizes.

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
Cut along ``dim`` into parts of given sizes.

Args:
    split_sizes: they add up to the size of ``dim``.

Shape: views of ``input``.

Example:
    >>> torch.split_with_sizes(torch.arange(3), [1, 2])
    (tensor([0]), tensor([1, 2]))
""",
)

add_docstr(
    "chunk",
    """
Cut along ``dim`` into at most ``chunks`` parts of equal size (the last may be smaller).

Shape: views of ``input``.

Example:
    >>> torch.chunk(torch.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
""",
)

add_docstr(
    "unsafe_split",
    """
Cut as :func:`split` does, for a caller who promises not to write to more than one of the parts.

Shape: parts of ``input``.

Example:
    >>> torch.unsafe_split(torch.arange(3), 2)
    (tensor([0, 1]), tensor([2]))
""",
)

add_docstr(
    "unsafe_split_with_sizes",
    """
Cut as :func:`split_with_sizes` does, for a caller who promises not to write to more than one of the parts.

Shape: parts of ``input``.

Example:
    >>> torch.unsafe_split_with_sizes(torch.arange(3), [1, 2])
    (tensor([0]), tensor([1, 2]))
""",
)

add_docstr(
    "unsafe_chunk",
    """
Cut as :func:`chunk` does, for a caller who promises not to write to more than one of the parts.

Shape: parts of ``input``.

Example:
    >>> torch.unsafe_chunk(torch.arange(3), 2)
    (tensor([0, 1]), tensor([2]))
""",
)

add_docstr(
    "tensor_split",
    """
Cut along ``dim`` into parts as equal as can be, or before given indices.

Args:
    sections: how many parts.
    indices: where to cut, as a list or a tensor of int64.

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
Cut into parts side by side: along the second dimension, of a vector along the first.

Args:
    sections: how many parts.
    indices: where to cut.

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
Cut into parts one above the other: along the first dimension.

Args:
    sections: how many parts.
    indices: where to cut.

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
Cut along the third dimension.

Args:
    sections: how many parts.
    indices: where to cut.

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
Join tensors along a dimension that they have.

Args:
    tensors: their shapes are equal but at ``dim``; empty vectors are passed over.

Shape: the sizes at ``dim`` added up.

Raises:
    RuntimeError: the shapes do not fit; there is no tensor.

Example:
    >>> torch.cat((torch.tensor([1, 2]), torch.tensor([3])))
    tensor([1, 2, 3])
""",
)

add_docstr(
    "concat",
    """
Join tensors along a dimension that they have: :func:`cat`.

Shape: the sizes at ``dim`` added up.

Example:
    >>> torch.concat((torch.tensor([1, 2]), torch.tensor([3])))
    tensor([1, 2, 3])
""",
)

add_docstr(
    "concatenate",
    """
Join tensors along a dimension that they have: :func:`cat`, by numpy's name.

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

Shape: that of each with their number inserted at ``dim``.

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
Join tensors side by side: along the second dimension, vectors along the first.

Shape: the sizes there added up.

Example:
    >>> torch.hstack((torch.tensor([[1], [2]]), torch.tensor([[3], [4]])))
    tensor([[1, 3],
            [2, 4]])
""",
)

add_docstr(
    "vstack",
    """
Join tensors one above the other; vectors are rows.

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
Join tensors one above the other: :func:`vstack`.

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
Join tensors side by side; vectors are columns.

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
    repeats: how often, as ints or as one tuple; new dimensions come first.

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
Copy the tensor several times along each dimension; dimensions not named are taken once.

Args:
    dims: how often.

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
    repeats: an int, or a number for each element; alone: return each index as often as it says.
    dim: repeat slices of this dimension; without it, elements in order.
    output_size: the length of the result, where it is known.

Shape: the repeats added up at ``dim``.

Example:
    >>> torch.repeat_interleave(torch.tensor([1, 2]), torch.tensor([1, 2]))
    tensor([1, 2, 2])
""",
)
