"""The docs of products of matrices and vectors with any number of dimensions.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "linear",
    """
Apply a linear map: :math:`x W^T + b`. Its public name is ``torch.nn.functional.linear``.

Args:
    weight: a row for each output.
    bias: the number that is added to each output.

Shape: (*, in), (out, in), (out,) -> (*, out); (*, in), (in,), () -> (*).

Raises:
    RuntimeError: the inner sizes differ.

Example:
    >>> torch.nn.functional.linear(torch.ones(1, 2), torch.tensor([[1.0, 2.0]]), torch.tensor([0.5]))
    tensor([[3.5000]])
""",
)

add_docstr(
    "matmul",
    """
Multiply vectors, matrices or batches of matrices, as ``@`` does. The batch dimensions are broadcast.

Shape: (N,), (N,) -> (); (N, M), (M,) -> (N,); (*, N, M), (*, M, P) -> (*, N, P).

Raises:
    RuntimeError: the shapes do not match, the dtypes differ, or an argument has no dimensions.

Example:
    >>> torch.matmul(torch.tensor([[1, 2], [3, 4]]), torch.tensor([1, 1]))
    tensor([3, 7])
""",
)

add_docstr(
    "outer",
    """
Return the outer product of two vectors, :math:`x_i y_j`.

Shape: (N,), (M,) -> (N, M).

Example:
    >>> torch.outer(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor([[3, 4],
            [6, 8]])
""",
)

add_docstr(
    "ger",
    """
Return the outer product of two vectors: the older name of :func:`outer`.

Shape: (N,), (M,) -> (N, M).

Example:
    >>> torch.ger(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor([[3, 4],
            [6, 8]])
""",
)
