"""The docs of joining tensors.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "cat",
    """
Join tensors along an existing dimension.

Args:
    tensors: the tensors; their shapes are equal except at ``dim``. Empty vectors are ignored.

Shape: the sizes at ``dim`` added up.

Raises:
    RuntimeError: the shapes do not match, or the list is empty.

Example:
    >>> torch.cat((torch.tensor([1, 2]), torch.tensor([3])))
    tensor([1, 2, 3])
""",
)

add_docstr(
    "stack",
    """
Join tensors of one shape along a new dimension.

Shape: the shape of each tensor, with the number of tensors inserted at ``dim``.

Raises:
    RuntimeError: the shapes differ.

Example:
    >>> torch.stack((torch.tensor([1, 2]), torch.tensor([3, 4])))
    tensor([[1, 2],
            [3, 4]])
""",
)

add_docstr(
    "repeat",
    """
Copy the tensor several times along each dimension.

Args:
    repeats: the number of copies along each dimension, as ints or as one tuple; new dimensions are in front.

Shape: the sizes times ``repeats``.

Example:
    >>> torch.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
""",
)
