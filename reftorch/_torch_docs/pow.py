"""The docs of powers.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "pow",
    """
Raise ``input`` to a power: :math:`input^{exponent}`. Either argument may be a number.

Args:
    exponent: a tensor, or a number; not negative if both are integers.

Shape: broadcast(``input``, ``exponent``).

Raises:
    RuntimeError: an integer is raised to a negative integer.

Example:
    >>> torch.pow(torch.tensor([1.0, 2.0, 3.0]), 2)
    tensor([1., 4., 9.])
    >>> torch.pow(2, torch.tensor([1, 2, 3]))
    tensor([2, 4, 8])
""",
)
