"""The docs of resizing a tensor's memory.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

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
