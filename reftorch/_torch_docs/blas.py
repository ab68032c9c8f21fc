"""The docs of products of a vector with a matrix or a vector.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

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
