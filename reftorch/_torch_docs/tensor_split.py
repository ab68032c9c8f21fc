"""The docs of splitting a tensor.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

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
