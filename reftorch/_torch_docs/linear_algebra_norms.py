"""The docs of norms, ranks, powers and pseudo-inverses of matrices.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "pinverse",
    """
Return the pseudo-inverses of matrices: ``torch.linalg.pinv``.

Args:
    rcond: singular values below this fraction of the largest one count as 0.

Shape: (*, M, N) -> (*, N, M).

Example:
    >>> torch.pinverse(torch.tensor([[2.0, 0.0], [0.0, 0.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])
""",
)

add_docstr(
    "matrix_power",
    """
Return powers of square matrices: ``torch.linalg.matrix_power``.

Args:
    n: the exponent; a negative one gives a power of the inverse.

Shape: (*, N, N) -> (*, N, N).

Example:
    >>> torch.matrix_power(torch.tensor([[1, 1], [0, 1]]).double(), 3)
    tensor([[1., 3.],
            [0., 1.]], dtype=torch.float64)
""",
)

add_docstr(
    "matrix_exp",
    r"""
Return the exponentials of square matrices, :math:`\sum_k A^k / k!`: ``torch.linalg.matrix_exp``.

Shape: (*, N, N) -> (*, N, N).

Example:
    >>> torch.matrix_exp(torch.tensor([[0.0, 1.0], [0.0, 0.0]]))
    tensor([[1., 1.],
            [0., 1.]])
""",
)
