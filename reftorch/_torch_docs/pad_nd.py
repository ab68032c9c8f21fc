"""The docs of padding.

Their public names are in ``torch.nn.functional``, whose docstrings give details.

Mirrors: torch/nn/functional.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "constant_pad_nd",
    """
Pad a tensor with one value; ``torch.nn.functional.pad`` has other modes too.

Args:
    pad: the numbers of elements to add before and after: first of the last dimension, then of the dimension before it,
        and so on. A negative number removes elements.
    value: the value of the padding.

Shape: the shape of ``input``, with ``pad[0] + pad[1]`` added to the last size, ``pad[2] + pad[3]`` to the size before
it.

Raises:
    RuntimeError: ``pad`` has an odd length, or more than two numbers for each dimension; or a size would be negative.

Example:
    >>> torch.constant_pad_nd(torch.tensor([[1, 2]]), (1, 0, 0, 1), 9)
    tensor([[9, 1, 2],
            [9, 9, 9]])
""",
)
