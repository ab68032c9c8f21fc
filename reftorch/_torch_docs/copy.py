"""The docs of copies into an existing tensor.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

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
