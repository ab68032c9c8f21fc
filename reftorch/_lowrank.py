"""The largest singular values of a matrix and their vectors, from products with a few random vectors.

Mirrors: torch/_lowrank.py
Leaves out: sparse and complex matrices.
"""

from __future__ import annotations

from reftorch import _VF, linalg
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable

__all__ = ["get_approximate_basis", "pca_lowrank", "svd_lowrank"]


@overridable
def get_approximate_basis(A: Tensor, q: int, niter: int = 2, M: Tensor | None = None) -> Tensor:
    """Return Q (*, m, q) with orthonormal columns, which approximately span the first q left singular vectors.

    The product of A with random vectors is dominated by the vectors with the largest singular values. Each iteration
    multiplies by A and its transpose, which makes them dominate more strongly.

    Args:
        A: matrices of shape (*, m, n).
        q: the number of columns.
        niter: the number of iterations.
        M: a matrix that is subtracted from A first, or None.

    Mirrors torch/_lowrank.py, ``get_approximate_basis``, which is algorithm 4.4 of Halko, Martinsson and Tropp (2009).
    """
    random = _VF.randn(A.shape[-1], q, dtype=A.dtype)
    A = A if M is None else A - M
    basis = linalg.qr(A @ random).Q
    for _ in range(niter):
        basis = linalg.qr(A.mT @ basis).Q
        basis = linalg.qr(A @ basis).Q
    return basis


@overridable
def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    r"""Return U, S, V with :math:`A \approx U \operatorname{diag}(S) V^\top`, with the ``q`` largest singular values.

    Args:
        A: matrices of shape (*, m, n).
        q: slightly more than the expected rank; 6 by default.
        niter: the number of iterations; 2 by default.
        M: matrices that are subtracted from A first; they broadcast to the shape of A.

    Returns:
        U (*, m, q), S (*, q), V (*, n, q).

    Example:
        >>> U, S, V = torch.svd_lowrank(torch.ones(4, 3), q=1)
        >>> torch.testing.assert_close(U @ torch.diag(S) @ V.T, torch.ones(4, 3))

    Mirrors torch/_lowrank.py, ``svd_lowrank``.
    """
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    m, n = A.shape[-2:]
    A = A if M is None else A - M.expand(A.shape)
    if m < n:  # the transpose is cheaper
        A = A.mT
    basis = get_approximate_basis(A, q, niter)
    U, S, Vh = linalg.svd(basis.mT @ A, full_matrices=False)
    U, V = basis @ U, Vh.mT
    return (V, S, U) if m < n else (U, S, V)


@overridable
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """Return U, S, V of A minus the mean of its rows: the columns of V are the principal directions.

    Args:
        A: matrices of shape (*, m, n): m samples of n features.
        q: the number of directions; the default is 6, or fewer for a small matrix.
        center: subtract the mean of the rows first.
        niter: the number of iterations.

    Returns:
        U (*, m, q), S (*, q), V (*, n, q).

    Raises:
        ValueError: ``q`` is out of range, or ``niter`` is negative.

    Example:
        >>> U, S, V = torch.pca_lowrank(torch.tensor([[0.0, 0.0], [2.0, 2.0], [4.0, 4.0]]), q=1)
        >>> S
        tensor([4.])

    Mirrors torch/_lowrank.py, ``pca_lowrank``.
    """
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(dim=-2, keepdim=True) if center else A, q, niter=niter)
