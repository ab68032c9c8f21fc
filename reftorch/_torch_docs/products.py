"""Products of matrices and vectors.

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
    "mv",
    """
Multiply a matrix with a vector.

Shape: (N, M), (M,) -> (N,).

Example:
    >>> torch.mv(torch.tensor([[1, 2], [3, 4]]), torch.tensor([1, 1]))
    tensor([3, 7])
""",
)

add_docstr(
    "dot",
    r"""
Return the dot product of two vectors, :math:`\sum x_i y_i`.

Shape: (N,), (N,) -> ().

Raises:
    RuntimeError: the arguments are not vectors, or differ in length or dtype.

Example:
    >>> torch.dot(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor(11)
""",
)

add_docstr(
    "vdot",
    """
Return the dot product of two vectors. For complex numbers, which do not exist here, the first would be conjugated.

Shape: (N,), (N,) -> ().

Example:
    >>> torch.vdot(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor(11)
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
    "addmv",
    r"""
Add a product of matrix and vector: :math:`beta \cdot input + alpha \cdot (mat @ vec)`.

Args:
    beta: the factor of ``input``; if it is 0, ``input`` is not read.
    alpha: the factor of the product.

Shape: broadcastable to (N,), (N, M), (M,) -> (N,).

Example:
    >>> torch.addmv(torch.ones(2), torch.eye(2), torch.tensor([1.0, 2.0]))
    tensor([2., 3.])
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

add_docstr(
    "inner",
    """
Return the dot products of the vectors of the last dimensions.

Shape: (*, N), (+, N) -> (*, +).

Example:
    >>> torch.inner(torch.tensor([[1, 2], [3, 4]]), torch.tensor([1, 1]))
    tensor([3, 7])
""",
)

add_docstr(
    "kron",
    """
Return the Kronecker product: each element of ``input`` times all of ``other``.

Shape: the products of the sizes.

Example:
    >>> torch.kron(torch.tensor([1, 10]), torch.tensor([1, 2]))
    tensor([ 1,  2, 10, 20])
""",
)

add_docstr(
    "tensordot",
    """
Sum products over several dimensions. The Python function ``torch.tensordot`` calls this op.

Args:
    dims_self: the dimensions of ``input`` to sum over.
    dims_other: the matching dimensions of ``other``.

Shape: the other dimensions of ``input``, then those of ``other``.

Example:
    >>> torch.tensordot(torch.ones(2, 3), torch.ones(3, 4), dims=([1], [0])).shape
    torch.Size([2, 4])
""",
)

add_docstr(
    "einsum",
    """
Sum products as a formula says. The Python function ``torch.einsum`` calls this op.

Args:
    equation: a letter for each dimension; the op sums over the letters that the result does not have.
    path: the order of the multiplications.

Shape: the sizes of the letters of the result.

Example:
    >>> torch.einsum("ij,j->i", torch.tensor([[1, 2], [3, 4]]), torch.tensor([1, 1]))
    tensor([3, 7])
""",
)

add_docstr(
    "chain_matmul",
    """
Multiply several matrices, in the order that needs the fewest operations. ``torch.chain_matmul`` calls this op.

Shape: (N0, N1), (N1, N2), ... -> (N0, Nk).

Example:
    >>> torch.linalg.multi_dot([torch.ones(2, 3), torch.ones(3, 1), torch.ones(1, 2)])
    tensor([[3., 3.],
            [3., 3.]])
""",
)

add_docstr(
    "cross",
    """
Return the vector product of vectors of three numbers.

Args:
    dim: the dimension of the vectors; by default the first dimension of size 3.

Shape: broadcast(``input``, ``other``).

Raises:
    RuntimeError: there is no dimension of size 3.

Example:
    >>> torch.cross(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 0]), dim=0)
    tensor([0, 0, 1])
""",
)

add_docstr(
    "vander",
    """
Return the powers of each number of a vector, as rows.

Args:
    N: the number of columns; by default the number of rows.
    increasing: begin with power 0, instead of ending with it.

Shape: (M,) -> (M, ``N``).

Example:
    >>> torch.vander(torch.tensor([2, 3]), N=3)
    tensor([[4, 2, 1],
            [9, 3, 1]])
""",
)
