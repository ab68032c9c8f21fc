"""The docs of LU factors, solutions, inverses and determinants of matrices.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "det",
    """
Return the determinants of square matrices: ``torch.linalg.det``.

Shape: (*, N, N) -> (*).

Example:
    >>> torch.det(torch.tensor([[2.0, 1.0], [0.0, 3.0]]))
    tensor(6.)
""",
)

add_docstr(
    "logdet",
    """
Return the logarithms of the determinants of square matrices; nan for a negative determinant.

Shape: (*, N, N) -> (*).

Example:
    >>> torch.logdet(2 * torch.eye(2))
    tensor(1.3863)
""",
)

add_docstr(
    "slogdet",
    """
Return the sign of the determinants and the logarithm of their absolute values: ``torch.linalg.slogdet``.

Shape: (*, N, N) -> (*), twice.

Example:
    >>> torch.slogdet(-torch.eye(3)).sign
    tensor(-1.)
""",
)

add_docstr(
    "inverse",
    """
Return the inverses of square matrices: ``torch.linalg.inv``.

Shape: (*, N, N) -> (*, N, N).

Raises:
    RuntimeError: a matrix is singular (``torch.linalg.LinAlgError``).

Example:
    >>> torch.inverse(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
""",
)

add_docstr(
    "lu_solve",
    """
Solve :math:`A X = B`, where ``input`` is B, from the LU factors of A. Deprecated; use ``torch.linalg.lu_solve``.

Shape: (*, N, K), (*, N, N), (*, N) -> (*, N, K).

Example:
    >>> LU, pivots = torch.linalg.lu_factor(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    >>> torch.linalg.lu_solve(LU, pivots, torch.tensor([[2.0], [8.0]]))
    tensor([[1.],
            [2.]])
""",
)

add_docstr(
    "lu_unpack",
    """
Return the matrices P, L and U from the results of ``torch.linalg.lu_factor``.

Args:
    unpack_data: if False, L and U are empty.
    unpack_pivots: if False, P is empty.

Shape: (*, M, N), (*, K) -> (*, M, M), (*, M, K), (*, K, N) with K = min(M, N).

Example:
    >>> LU, pivots = torch.linalg.lu_factor(torch.tensor([[1.0, 2.0], [4.0, 4.0]]))
    >>> P, L, U = torch.lu_unpack(LU, pivots)
    >>> P @ L @ U
    tensor([[1., 2.],
            [4., 4.]])
""",
)
