"""Filling, copying and converting; sharing and resizing memory.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "fill",
    """
Return a tensor like ``input`` whose elements are all ``value``.

Args:
    value: a number, or a tensor without dimensions.

Shape: the shape of ``input``.

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
    value: a number, or a tensor without dimensions.

Shape: the shape of the tensor, which is returned.

Example:
    >>> torch.zeros(2).fill_(7)
    tensor([7., 7.])
""",
)

add_docstr(
    "zero_",
    """
Set all elements to 0.

Shape: the shape of the tensor, which is returned.

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
    wrap: in a matrix with more rows than columns, start the diagonal again below its end.

Shape: the shape of the tensor, which is returned; two dimensions, or more dimensions of equal size.

Example:
    >>> torch.zeros(2, 2).fill_diagonal_(1)
    tensor([[1., 0.],
            [0., 1.]])
""",
)

add_docstr(
    "copy_",
    """
Copy the elements of ``src`` into this tensor, and convert them to this tensor's dtype.

Args:
    src: a tensor whose shape broadcasts to this tensor's shape.
    non_blocking: has no effect on the CPU.

Shape: the shape of the tensor, which is returned.

Example:
    >>> torch.zeros(2, 2).copy_(torch.tensor([1, 2]))
    tensor([[1., 2.],
            [1., 2.]])
""",
)

add_docstr(
    "clone",
    """
Return a copy that has its own memory. Gradients flow through the copy.

Args:
    memory_format: the order in memory: ``torch.preserve_format`` by default.

Shape: the shape of ``input``.

Example:
    >>> x = torch.tensor([1, 2])
    >>> torch.clone(x).data_ptr() == x.data_ptr()
    False
""",
)

add_docstr(
    "contiguous",
    """
Return the tensor if it is contiguous, else a contiguous copy.

Args:
    memory_format: ``torch.contiguous_format`` by default.

Shape: the shape of ``input``.

Example:
    >>> torch.ones(2, 3).t().contiguous().stride()
    (2, 1)
""",
)

add_docstr(
    "detach",
    """
Return a view that autograd does not track: no gradient flows through the view.

Shape: the shape of ``input``; the result is a view of ``input``.

Example:
    >>> torch.ones(2, requires_grad=True).detach().requires_grad
    False
""",
)

add_docstr(
    "to",
    """
Return the tensor with another dtype or on another device: the tensor itself if nothing changes, else a copy.

Args:
    dtype: the dtype to convert to.
    device: the device to move to.
    other: a tensor that has the dtype and the device.
    non_blocking: has no effect on the CPU.
    copy: copy even if nothing changes.

Shape: the shape of ``input``.

Example:
    >>> torch.tensor([1.7, 2.2]).to(torch.int64)
    tensor([1, 2])
""",
)

add_docstr(
    "type_as",
    """
Return the tensor with the dtype of ``other``.

Shape: the shape of ``input``.

Example:
    >>> torch.tensor([1, 2]).type_as(torch.ones(1))
    tensor([1., 2.])
""",
)

add_docstr(
    "resize_",
    """
Change the shape of the tensor in place. Its memory grows if necessary; new elements are uninitialized.

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
Change the shape of ``input`` in place to the shape of another tensor, as ``resize_`` does.

Shape: the shape of ``the_template``; returns ``input``.

Example:
    >>> torch.arange(4).resize_as_(torch.ones(2))
    tensor([0, 1])
""",
)

add_docstr(
    "set_",
    """
Make the tensor share the memory of ``source``. Without ``source`` the tensor becomes empty.

Args:
    source: a tensor.
    storage_offset: the index of the first element in the memory.
    size: the shape.
    stride: for each dimension, the distance in memory between neighbours, in elements.

Shape: the shape of ``source``, or ``size``; returns the tensor.

Example:
    >>> torch.empty(0).set_(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "is_set_to",
    """
Return whether both tensors have the same memory, shape and strides.

Shape: any -> a Python bool.

Example:
    >>> x = torch.ones(2)
    >>> x.is_set_to(x.view(2)), x.is_set_to(x.clone())
    (True, False)
""",
)
