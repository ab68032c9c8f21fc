"""The docs of inner, Kronecker and cross products, and Vandermonde matrices.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

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
