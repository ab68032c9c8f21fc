"""The docs of ops that fill a tensor with one value.

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
