"""The docs of products of two vectors with a matrix between them.

Their public names are in ``torch.nn.functional``, whose docstrings give details.

Mirrors: torch/nn/functional.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "bilinear",
    r"""
Apply a bilinear map: :math:`y_o = x_1^T W_o x_2 + b_o`.

Args:
    input1, input2: vectors in their last dimension; their other dimensions are equal.
    weight: a matrix for each output.
    bias: a number for each output.

Shape: (*, I), (*, J), (O, I, J), (O,) -> (*, O).

Raises:
    RuntimeError: the sizes do not match.

Example:
    >>> x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    >>> torch.bilinear(x, y, torch.eye(2).reshape(1, 2, 2))
    tensor([11.])
""",
)
