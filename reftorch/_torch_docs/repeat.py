"""The docs of repetitions of elements.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "repeat_interleave",
    """
Repeat each element, one after the other.

Args:
    repeats: an int, or a number for each element. If ``repeats`` is the only argument, each index is returned as often
        as its number says.
    dim: repeat slices along this dimension; without ``dim``, repeat the elements of the flattened tensor.
    output_size: the length of the result, if the caller knows it.

Shape: the repeats added up at ``dim``.

Example:
    >>> torch.repeat_interleave(torch.tensor([1, 2]), torch.tensor([1, 2]))
    tensor([1, 2, 2])
""",
)
