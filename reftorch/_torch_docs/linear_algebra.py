"""The docs of products of matrices.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "mm",
    """
Multiply two matrices.

Shape: (N, M), (M, P) -> (N, P).

Raises:
    RuntimeError: the shapes do not match, or the dtypes differ.

Example:
    >>> torch.mm(torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1], [1]]))
    tensor([[3],
            [7]])
""",
)

add_docstr(
    "bmm",
    """
Multiply two batches of matrices.

Shape: (B, N, M), (B, M, P) -> (B, N, P).

Raises:
    RuntimeError: the shapes do not match, or the dtypes differ.

Example:
    >>> torch.bmm(torch.ones(2, 1, 3), torch.ones(2, 3, 1)).flatten()
    tensor([3., 3.])
""",
)

add_docstr(
    "addmm",
    r"""
Add a product of matrices: :math:`beta \cdot input + alpha \cdot (mat1 @ mat2)`.

Args:
    beta: the factor of ``input``; if it is 0, ``input`` is not read.
    alpha: the factor of the product.

Shape: broadcastable to (N, P), (N, M), (M, P) -> (N, P).

Example:
    >>> torch.addmm(torch.ones(2, 2), torch.eye(2), torch.eye(2), beta=10)
    tensor([[11., 10.],
            [10., 11.]])
""",
)

add_docstr(
    "addr",
    r"""
Add an outer product: :math:`beta \cdot input + alpha \cdot (vec1 \otimes vec2)`.

Args:
    beta: the factor of ``input``; if it is 0, ``input`` is not read.
    alpha: the factor of the product.

Shape: broadcastable to (N, M), (N,), (M,) -> (N, M).

Example:
    >>> torch.addr(torch.zeros(2, 2), torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])
""",
)

add_docstr(
    "baddbmm",
    r"""
Add a product of batches of matrices: :math:`beta \cdot input + alpha \cdot (batch1 @ batch2)`.

Args:
    beta: the factor of ``input``; if it is 0, ``input`` is not read.
    alpha: the factor of the product.

Shape: broadcastable to (B, N, P), (B, N, M), (B, M, P) -> (B, N, P).

Example:
    >>> torch.baddbmm(torch.ones(1, 1, 1), torch.ones(1, 1, 2), torch.ones(1, 2, 1))
    tensor([[[3.]]])
""",
)

add_docstr(
    "addbmm",
    r"""
Add the sum of a batch of products: :math:`beta \cdot input + alpha \cdot \sum_b (batch1_b @ batch2_b)`.

Args:
    beta: the factor of ``input``; if it is 0, ``input`` is not read.
    alpha: the factor of the sum.

Shape: broadcastable to (N, P), (B, N, M), (B, M, P) -> (N, P).

Example:
    >>> torch.addbmm(torch.zeros(1, 1), torch.ones(3, 1, 2), torch.ones(3, 2, 1))
    tensor([[6.]])
""",
)
