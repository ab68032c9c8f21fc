"""The docs of reading and writing where a mask is true.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "masked_fill",
    """
Set the elements to ``value`` where ``mask`` is true.

Args:
    mask: a tensor of bools, whose shape broadcasts with that of ``input``.
    value: a number, or a tensor without dimensions.

Shape: broadcast(``input``, ``mask``).

Example:
    >>> torch.masked_fill(torch.tensor([1.0, 2.0]), torch.tensor([True, False]), 0)
    tensor([0., 2.])
""",
)

add_docstr(
    "masked_select",
    """
Return the elements where ``mask`` is true, in order.

Args:
    mask: a tensor of bools.

Shape: broadcast(``input``, ``mask``) -> (count,).

Example:
    >>> torch.masked_select(torch.tensor([1, 2, 3]), torch.tensor([True, False, True]))
    tensor([1, 3])
""",
)

add_docstr(
    "masked_scatter",
    """
Copy the elements of ``source``, in order, to the positions where ``mask`` is true.

Args:
    mask: a tensor of bools.
    source: a tensor with at least as many elements as ``mask`` has true ones.

Shape: broadcast(``input``, ``mask``).

Raises:
    RuntimeError: ``source`` has too few elements.

Example:
    >>> torch.masked_scatter(torch.zeros(3), torch.tensor([True, False, True]), torch.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])
""",
)
