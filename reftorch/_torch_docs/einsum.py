"""The docs of sums of products in Einstein's notation.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

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
