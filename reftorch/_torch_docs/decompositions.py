"""Determinants, inverses and factorizations, under their names in ``torch``.

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
    >>> P, L, U = torch.lu_unpack(*torch.linalg.lu_factor(torch.tensor([[1.0, 2.0], [4.0, 4.0]])))
    >>> P @ L @ U
    tensor([[1., 2.],
            [4., 4.]])
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

add_docstr(
    "geqrf",
    """
Return the QR factors in LAPACK's format: R above, the vectors of the reflections below, and their factors tau.

Shape: (*, M, N) -> (*, M, N), (*, K) with K = min(M, N).

Example:
    >>> a, tau = torch.geqrf(torch.tensor([[3.0], [4.0]]))
    >>> a, tau
    (tensor([[-5.0000],
            [ 0.5000]]), tensor([1.6000]))
""",
)

add_docstr(
    "orgqr",
    r"""
Return the first columns of a product of reflections, :math:`H_1 H_2 \cdots H_K`: Q from the results of :func:`geqrf`.

Args:
    input2: the factors tau.

Shape: (*, M, N), (*, K) -> (*, M, N) with M >= N >= K.

Example:
    >>> torch.orgqr(*torch.geqrf(torch.tensor([[3.0], [4.0]])))
    tensor([[-0.6000],
            [-0.8000]])
""",
)

add_docstr(
    "ormqr",
    """
Multiply a matrix by all columns of Q, without computing Q. The results of :func:`geqrf` describe Q.

Args:
    input2: the factors tau.
    input3: the matrix.
    left: multiply by Q from the left; if False, from the right.
    transpose: multiply by the transpose of Q.

Shape: (*, M, N), (*, K), (*, M, L) -> (*, M, L); the matrix is (*, L, M) if ``left`` is False.

Example:
    >>> a, tau = torch.geqrf(torch.tensor([[3.0], [4.0]]))
    >>> torch.ormqr(a, tau, torch.eye(2))[:, 0]
    tensor([-0.6000, -0.8000])
""",
)
