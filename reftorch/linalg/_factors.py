"""Factorizations of matrices, and eigenvalues.

Mirrors: torch/linalg/__init__.py (cholesky, eigh, lu, qr, svd, ...)
"""

from __future__ import annotations

from typing import Any

from reftorch._C import _linalg
from reftorch._tensor import Tensor


def cholesky(A: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """Return the lower triangular L with A = L L^T, for symmetric positive-definite matrices.

    Args:
        A: matrices of shape (*, n, n), of which one triangle is read.
        upper: return the upper triangular U with A = U^T U.
        out: where to put the result.

    Raises:
        LinAlgError: a matrix is not positive-definite.
        RuntimeError: the matrices are not square, or not float32 or float64.

    Example:
        >>> torch.linalg.cholesky(torch.tensor([[4.0, 2.0], [2.0, 5.0]]))
        tensor([[2., 0.],
                [1., 2.]])

    Mirrors torch/linalg/__init__.py, ``cholesky``.
    """
    return _linalg.linalg_cholesky(A, upper=upper, out=out)


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False, out: Any = None) -> Any:
    """Return the Cholesky factors, and for each matrix an error code that is 0 if there was no error.

    Args:
        A: matrices of shape (*, n, n), of which one triangle is read.
        upper: return the upper triangular factor.
        check_errors: raise an error for a matrix that is not positive-definite.
        out: a tuple of tensors for the results.

    Returns:
        A named tuple (L, info): an error code k means that the leading minor of order k is not positive-definite.

    Example:
        >>> torch.linalg.cholesky_ex(-torch.eye(2)).info
        tensor(1, dtype=torch.int32)

    Mirrors torch/linalg/__init__.py, ``cholesky_ex``.
    """
    return _linalg.linalg_cholesky_ex(A, upper=upper, check_errors=check_errors, out=out)


def ldl_factor(A: Tensor, *, hermitian: bool = False, out: Any = None) -> Any:
    """Return the factors of symmetric matrices, A = L D L^T, packed into one matrix, and the swaps of their rows.

    The matrices need not be positive-definite, unlike those of :func:`cholesky`. This function has no gradient.

    Args:
        A: matrices of shape (*, n, n), of which the lower triangle is read.
        hermitian: has no effect on real numbers.
        out: a tuple of tensors for the results.

    Returns:
        A named tuple (LD, pivots), packed as by LAPACK's ``sytrf``: D is on the diagonal, L below it (the diagonal of L
        is 1). A negative pivot marks a row of a 2 by 2 block of D. :func:`ldl_solve` takes both tensors.

    Raises:
        LinAlgError: a block of D is zero.
        RuntimeError: the matrices are not square, or not float32 or float64.

    Example:
        >>> torch.linalg.ldl_factor(torch.tensor([[2.0, 1.0], [1.0, -3.0]])).LD
        tensor([[ 2.0000,  0.0000],
                [ 0.5000, -3.5000]])

    Mirrors torch/linalg/__init__.py, ``ldl_factor``.
    """
    return _linalg.linalg_ldl_factor(A, hermitian=hermitian, out=out)


def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False, out: Any = None) -> Any:
    """Return the results of :func:`ldl_factor`, and for each matrix an error code that is 0 if there was no error.

    Args:
        A: matrices of shape (*, n, n), of which the lower triangle is read.
        hermitian: has no effect on real numbers.
        check_errors: raise an error where a block of D is zero.
        out: a tuple of tensors for the results.

    Returns:
        A named tuple (LD, pivots, info): an error code k means that block k of D is zero.

    Example:
        >>> torch.linalg.ldl_factor_ex(torch.zeros(2, 2)).info
        tensor(1, dtype=torch.int32)

    Mirrors torch/linalg/__init__.py, ``ldl_factor_ex``.
    """
    return _linalg.linalg_ldl_factor_ex(A, hermitian=hermitian, check_errors=check_errors, out=out)


def lu_factor(A: Tensor, *, pivot: bool = True, out: Any = None) -> Any:
    """Return the factors L and U of matrices whose rows are swapped, packed into one matrix, and the swaps.

    Args:
        A: matrices of shape (*, m, n).
        pivot: False (no swaps) needs CUDA.
        out: a tuple of tensors for the results.

    Returns:
        A named tuple (LU, pivots): U is on and above the diagonal, L below it (the diagonal of L is 1); step i swapped
        rows i and pivots[i] - 1.

    Raises:
        RuntimeError: a matrix is singular.

    Example:
        >>> torch.linalg.lu_factor(torch.tensor([[1.0, 2.0], [4.0, 4.0]])).pivots
        tensor([2, 2], dtype=torch.int32)

    Mirrors torch/linalg/__init__.py, ``lu_factor``.
    """
    return _linalg.linalg_lu_factor(A, pivot=pivot, out=out)


def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False, out: Any = None) -> Any:
    """Return the results of :func:`lu_factor`, and for each matrix an error code that is 0 unless it is singular.

    Args:
        A: matrices of shape (*, m, n).
        pivot: False (no swaps) needs CUDA.
        check_errors: raise an error for a singular matrix.
        out: a tuple of tensors for the results.

    Returns:
        A named tuple (LU, pivots, info).

    Example:
        >>> torch.linalg.lu_factor_ex(torch.zeros(2, 2)).info
        tensor(1, dtype=torch.int32)

    Mirrors torch/linalg/__init__.py, ``lu_factor_ex``.
    """
    return _linalg.linalg_lu_factor_ex(A, pivot=pivot, check_errors=check_errors, out=out)


def lu(A: Tensor, *, pivot: bool = True, out: Any = None) -> Any:
    """Return P, L and U with A = P L U: a permutation, a lower triangle with ones on its diagonal, an upper triangle.

    Args:
        A: matrices of shape (*, m, n).
        pivot: False (no permutation) needs CUDA.
        out: a tuple of tensors for the results.

    Returns:
        A named tuple (P, L, U).

    Example:
        >>> P, L, U = torch.linalg.lu(torch.tensor([[1.0, 2.0], [4.0, 4.0]]))
        >>> L
        tensor([[1.0000, 0.0000],
                [0.2500, 1.0000]])

    Mirrors torch/linalg/__init__.py, ``lu``.
    """
    return _linalg.linalg_lu(A, pivot=pivot, out=out)


def householder_product(A: Tensor, tau: Tensor, *, out: Any = None) -> Any:
    r"""Return the first n columns of :math:`H_1 H_2 \cdots H_k` with :math:`H_i = I - \tau_i v_i v_i^T`.

    Column i of ``A`` holds :math:`v_i` below its diagonal; the 1 on the diagonal is not stored. ``geqrf`` packs the
    orthogonal factor of a matrix in this way.

    Args:
        A: matrices of shape (*, m, n), with m not less than n.
        tau: the factors :math:`\tau_i`, of shape (*, k), with k not more than n.
        out: where to put the result.

    Returns:
        A tensor of A's shape.

    Raises:
        RuntimeError: the shapes or dtypes do not match.

    Example:
        >>> A = torch.tensor([[3.0, 1.0], [4.0, 2.0]])
        >>> Q = torch.linalg.householder_product(*torch.geqrf(A))
        >>> torch.allclose(Q, torch.linalg.qr(A).Q)
        True

    Mirrors torch/linalg/__init__.py, ``householder_product``.
    """
    return _linalg.linalg_householder_product(A, tau, out=out)


def qr(A: Tensor, mode: str = "reduced", *, out: Any = None) -> Any:
    """Return Q with orthonormal columns and the upper triangular R with A = Q R.

    Args:
        A: matrices of shape (*, m, n).
        mode: ``"reduced"``: Q has min(m, n) columns; ``"complete"``: Q has m columns; ``"r"``: only R, and Q is empty.
        out: a tuple of tensors for the results.

    Returns:
        A named tuple (Q, R).

    Raises:
        RuntimeError: the mode is unknown, or the matrices are not float32 or float64.

    Example:
        >>> Q, R = torch.linalg.qr(torch.tensor([[3.0, 1.0], [4.0, 2.0]]))
        >>> R[0, 0].abs()
        tensor(5.)

    Mirrors torch/linalg/__init__.py, ``qr``.
    """
    return _linalg.linalg_qr(A, mode, out=out)


def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None, out: Any = None) -> Any:
    """Return U, S and Vh with A = U diag(S) Vh: two orthogonal matrices, and the singular values, the largest first.

    Args:
        A: matrices of shape (*, m, n).
        full_matrices: return square U and Vh; otherwise only the first min(m, n) columns of U and rows of Vh.
        driver: an option for CUDA.
        out: a tuple of tensors for the results.

    Returns:
        A named tuple (U, S, Vh). LAPACK chooses the signs of the vectors.

    Raises:
        LinAlgError: an element is NaN or infinite.
        RuntimeError: the matrices are not float32 or float64.

    Example:
        >>> torch.linalg.svd(torch.tensor([[0.0, 2.0], [1.0, 0.0]])).S
        tensor([2., 1.])

    Mirrors torch/linalg/__init__.py, ``svd``.
    """
    return _linalg.linalg_svd(A, full_matrices, driver=driver, out=out)


def svdvals(A: Tensor, *, driver: str | None = None, out: Tensor | None = None) -> Tensor:
    """Return the singular values of matrices, the largest first.

    Args:
        A: matrices of shape (*, m, n).
        driver: an option for CUDA.
        out: where to put the result.

    Example:
        >>> torch.linalg.svdvals(torch.tensor([[0.0, 2.0], [1.0, 0.0]]))
        tensor([2., 1.])

    Mirrors torch/linalg/__init__.py, ``svdvals``.
    """
    return _linalg.linalg_svdvals(A, driver=driver, out=out)


def eigh(A: Tensor, UPLO: str = "L", *, out: Any = None) -> Any:
    """Return the eigenvalues of symmetric matrices, the smallest first, and eigenvectors as columns.

    Args:
        A: matrices of shape (*, n, n).
        UPLO: which triangle is read, ``"L"`` or ``"U"``.
        out: a tuple of tensors for the results.

    Returns:
        A named tuple (eigenvalues, eigenvectors). LAPACK chooses the signs of the vectors.

    Raises:
        RuntimeError: the matrices are not square, or not float32 or float64.

    Example:
        >>> torch.linalg.eigh(torch.tensor([[3.0, 0.0], [0.0, 1.0]])).eigenvalues
        tensor([1., 3.])

    Mirrors torch/linalg/__init__.py, ``eigh``.
    """
    return _linalg.linalg_eigh(A, UPLO, out=out)


def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Tensor | None = None) -> Tensor:
    """Return the eigenvalues of symmetric matrices, the smallest first.

    Args:
        A: matrices of shape (*, n, n).
        UPLO: which triangle is read, ``"L"`` or ``"U"``.
        out: where to put the result.

    Example:
        >>> torch.linalg.eigvalsh(torch.tensor([[3.0, 0.0], [0.0, 1.0]]))
        tensor([1., 3.])

    Mirrors torch/linalg/__init__.py, ``eigvalsh``.
    """
    return _linalg.linalg_eigvalsh(A, UPLO, out=out)


def eig(A: Tensor) -> Any:
    """Raise an error: the eigenvalues of a matrix that is not symmetric are complex numbers, which have no dtype here.

    Raises:
        NotImplementedError: always. :func:`eigh` is for symmetric matrices.

    Mirrors torch/linalg/__init__.py, ``eig``.
    """
    return _linalg.linalg_eig(A)


def eigvals(A: Tensor) -> Tensor:
    """Raise an error, as :func:`eig` does.

    Raises:
        NotImplementedError: always. :func:`eigvalsh` is for symmetric matrices.

    Mirrors torch/linalg/__init__.py, ``eigvals``.
    """
    return _linalg.linalg_eigvals(A)
