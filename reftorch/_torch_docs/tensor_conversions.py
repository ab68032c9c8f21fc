"""The docs of copies, and conversions to another dtype or device.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

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
Return the tensor itself if it is contiguous. Otherwise, return a contiguous copy.

Args:
    memory_format: ``torch.contiguous_format`` by default.

Shape: the shape of ``input``.

Example:
    >>> torch.ones(2, 3).t().contiguous().stride()
    (2, 1)
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
