"""The docs of Cholesky, QR, singular value and eigenvalue factors of matrices.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "cholesky",
    """
Return the Cholesky factors of positive-definite matrices. Deprecated; use ``torch.linalg.cholesky``.

Args:
    upper: return the upper factor, :math:`U^T U`, instead of the lower one, :math:`L L^T`.

Shape: (*, N, N) -> (*, N, N).

Raises:
    RuntimeError: a matrix is not positive-definite (``torch.linalg.LinAlgError``).

Example:
    >>> torch.cholesky(torch.tensor([[4.0, 0.0], [0.0, 9.0]]))
    tensor([[2., 0.],
            [0., 3.]])
""",
)

add_docstr(
    "cholesky_solve",
    """
Solve :math:`A X = B`, where ``input`` is B, from the Cholesky factor of A.

Args:
    input2: the Cholesky factor.
    upper: the factor is upper triangular.

Shape: (*, N, K), (*, N, N) -> (*, N, K).

Example:
    >>> torch.cholesky_solve(torch.tensor([[4.0], [9.0]]), torch.tensor([[2.0, 0.0], [0.0, 3.0]]))
    tensor([[1.],
            [1.]])
""",
)

add_docstr(
    "cholesky_inverse",
    """
Return the inverse of a matrix from its Cholesky factor.

Args:
    upper: the factor is upper triangular.

Shape: (*, N, N) -> (*, N, N).

Example:
    >>> torch.cholesky_inverse(torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
    tensor([[ 2., -1.],
            [-1.,  1.]])
""",
)

add_docstr(
    "triangular_solve",
    """
Solve :math:`A X = B`, where ``input`` is B and A is triangular. Deprecated; use ``torch.linalg.solve_triangular``.

Args:
    upper: A is upper triangular.
    transpose: use the transpose of A in place of A.
    unitriangular: assume that the diagonal of A is 1, and do not read it.

Shape: (*, N, K), (*, N, N) -> (solution, a copy of A).

Example:
    >>> torch.triangular_solve(torch.tensor([[4.0], [9.0]]), torch.tensor([[2.0, 0.0], [0.0, 3.0]]))[0]
    tensor([[2.],
            [3.]])
""",
)

add_docstr(
    "qr",
    """
Return the factors of :math:`A = Q R`: Q is orthogonal, R is upper triangular. Deprecated; use ``torch.linalg.qr``.

Args:
    some: return the reduced factors.

Shape: (*, M, N) -> (*, M, K), (*, K, N) with K = min(M, N).

Example:
    >>> q, r = torch.qr(torch.tensor([[3.0, 1.0], [4.0, 2.0]]))
    >>> torch.allclose(q @ r, torch.tensor([[3.0, 1.0], [4.0, 2.0]]))
    True
""",
)

add_docstr(
    "svd",
    """
Return the singular value decomposition :math:`U S V^T`: U, S and V. Deprecated; use ``torch.linalg.svd``, which returns
:math:`V^T`.

Args:
    some: return the reduced factors.
    compute_uv: if False, U and V are zeros.

Shape: (*, M, N) -> (*, M, K), (*, K), (*, N, K) with K = min(M, N).

Example:
    >>> torch.svd(torch.tensor([[3.0, 0.0], [0.0, 2.0]])).S
    tensor([3., 2.])
""",
)
