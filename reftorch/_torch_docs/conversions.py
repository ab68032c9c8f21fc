"""Filling, copying and converting; memory that is taken over or resized.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "fill",
    """
Return a tensor like ``input`` whose elements are all ``value``.

Args:
    value: a number, or a tensor of no dimensions.

Shape: that of ``input``.

Raises:
    RuntimeError: ``value`` has dimensions.

Example:
    >>> torch.fill(torch.zeros(2), 7)
    tensor([7., 7.])
""",
)

add_docstr(
    "fill_",
    """
Set all elements to ``value``.

Args:
    value: a number, or a tensor of no dimensions.

Shape: that of the tensor, which is returned.

Example:
    >>> torch.zeros(2).fill_(7)
    tensor([7., 7.])
""",
)

add_docstr(
    "zero_",
    """
Set all elements to 0.

Shape: that of the tensor, which is returned.

Example:
    >>> torch.ones(2).zero_()
    tensor([0., 0.])
""",
)

add_docstr(
    "fill_diagonal_",
    """
Set the elements of the main diagonal to ``fill_value``.

Args:
    wrap: begin anew below, where a matrix is taller than wide.

Shape: that of the tensor, which is returned; two dimensions, or more that are equal.

Example:
    >>> torch.zeros(2, 2).fill_diagonal_(1)
    tensor([[1., 0.],
            [0., 1.]])
""",
)

add_docstr(
    "copy_",
    """
Copy the elements of ``src`` here, converted to this dtype.

Args:
    src: a tensor whose shape broadcasts to this one's.
    non_blocking: has no effect on the CPU.

Shape: that of the tensor, which is returned.

Example:
    >>> torch.zeros(2, 2).copy_(torch.tensor([1, 2]))
    tensor([[1., 2.],
            [1., 2.]])
""",
)

add_docstr(
    "clone",
    """
Return a copy, in memory of its own; gradients flow through.

Args:
    memory_format: the order in memory: ``torch.preserve_format`` by default.

Shape: that of ``input``.

Example:
    >>> x = torch.tensor([1, 2])
    >>> torch.clone(x).data_ptr() == x.data_ptr()
    False
""",
)

add_docstr(
    "contiguous",
    """
Return the tensor with its elements in order in memory: itself where they are, else a copy.

Args:
    memory_format: ``torch.contiguous_format`` by default.

Shape: that of ``input``.

Example:
    >>> torch.ones(2, 3).t().contiguous().stride()
    (2, 1)
""",
)

add_docstr(
    "detach",
    """
Return a view that is not recorded: no gradient flows through it.

Shape: that of ``input``; the result is a view of it.

Example:
    >>> torch.ones(2, requires_grad=True).detach().requires_grad
    False
""",
)

add_docstr(
    "to",
    """
Return the tensor in another dtype or on another device: itself where nothing changes, else a copy.

Args:
    dtype: the dtype to convert to.
    device: the device to move to.
    other: a tensor that has both.
    non_blocking: has no effect on the CPU.
    copy: copy even where nothing changes.

Shape: that of ``input``.

Example:
    >>> torch.tensor([1.7, 2.2]).to(torch.int64)
    tensor([1, 2])
""",
)

add_docstr(
    "type_as",
    """
Return the tensor in the dtype of ``other``.

Shape: that of ``input``.

Example:
    >>> torch.tensor([1, 2]).type_as(torch.ones(1))
    tensor([1., 2.])
""",
)

add_docstr(
    "resize_",
    """
Give the tensor another shape; its memory grows where it must, and new elements are not set.

Args:
    size: the shape, as ints or as one tuple.

Shape: ``size``; returns the tensor.

Raises:
    RuntimeError: the tensor requires a gradient.

Example:
    >>> torch.arange(4).resize_(2)
    tensor([0, 1])
""",
)

add_docstr(
    "resize_as_",
    """
Give ``input`` the shape of another tensor, as ``resize_`` does.

Shape: that of ``the_template``; returns ``input``.

Example:
    >>> torch.arange(4).resize_as_(torch.ones(2))
    tensor([0, 1])
""",
)

add_docstr(
    "set_",
    """
Let the tensor share the memory of ``source``; without it, have no elements.

Args:
    source: a tensor.
    storage_offset: where in its memory to begin.
    size: the shape.
    stride: how many elements lie between neighbours.

Shape: that of ``source``, or ``size``; returns the tensor.

Example:
    >>> torch.empty(0).set_(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "is_set_to",
    """
Tell whether both share memory, shape and strides.

Shape: any -> a Python bool.

Example:
    >>> x = torch.ones(2)
    >>> x.is_set_to(x.view(2)), x.is_set_to(x.clone())
    (True, False)
""",
)
