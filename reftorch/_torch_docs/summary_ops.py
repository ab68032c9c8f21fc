"""The docs of counts.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "bincount",
    """
Count how often each integer occurs, from 0 to the largest.

Args:
    weights: the number that each occurrence adds; 1 by default.
    minlength: the smallest length of the result.

Shape: (N,) -> (max + 1,).

Raises:
    RuntimeError: an element is negative, or ``input`` is not a vector of integers.

Example:
    >>> torch.bincount(torch.tensor([0, 2, 2]))
    tensor([1, 0, 2])
""",
)

add_docstr(
    "histc",
    """
Count the elements in ``bins`` ranges of equal width.

Args:
    min: the beginning of the first range.
    max: the end of the last range. If both are 0, the smallest and the largest element are used.

Shape: any -> (``bins``,).

Example:
    >>> torch.histc(torch.tensor([1.0, 2.0, 1.0, 4.0]), bins=4, min=0, max=4)
    tensor([0., 2., 1., 1.])
""",
)
