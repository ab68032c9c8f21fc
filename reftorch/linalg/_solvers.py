"""Systems of linear equations: solutions, inverses, least squares.

Mirrors: torch/linalg/__init__.py (inv, lstsq, lu_solve, pinv, solve, solve_triangular, tensorinv, tensorsolve)
"""

from __future__ import annotations

from typing import Any

from reftorch._C import _linalg
from reftorch._tensor import Tensor


def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    r"""Return the inverses of square matrices, :math:`A^{-1} A = I`.

    :func:`solve` is faster and more exact than a product with the inverse.

    Args:
        A: matrices of shape (*, n, n).
        out: where to put the result.

    Raises:
        LinAlgError: a matrix is singular.
        RuntimeError: the matrices are not square, or not float32 or float64.

    Example:
        >>> torch.linalg.inv(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.2500]])

    Mirrors torch/linalg/__init__.py, ``inv``.
    """
    return _linalg.linalg_inv(A, out=out)


def inv_ex(A: Tensor, *, check_errors: bool = False, out: Any = None) -> Any:
    """Return the inverses of square matrices, and for each matrix an error code that is 0 if there was no error.

    Args:
        A: matrices of shape (*, n, n).
        check_errors: raise an error for a singular matrix.
        out: a tuple of tensors for the results.

    Returns:
        A named tuple (inverse, info): a code k means that element k of the diagonal of U, counted from 1, is 0.

    Example:
        >>> torch.linalg.inv_ex(torch.zeros(2, 2)).info
        tensor(1, dtype=torch.int32)

    Mirrors torch/linalg/__init__.py, ``inv_ex``.
    """
    return _linalg.linalg_inv_ex(A, check_errors=check_errors, out=out)


def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None) -> Tensor:
    """Return the solution X of A X = B.

    Args:
        A: square matrices of shape (*, n, n).
        B: right-hand sides of shape (*, n, k), or vectors (*, n).
        left: False solves X A = B.
        out: where to put the result.

    Raises:
        LinAlgError: a matrix is singular.
        RuntimeError: the shapes do not match, or the elements are not float32 or float64.

    Example:
        >>> torch.linalg.solve(torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.tensor([2.0, 2.0]))
        tensor([1.0000, 0.5000])

    Mirrors torch/linalg/__init__.py, ``solve``.
    """
    return _linalg.linalg_solve(A, B, left=left, out=out)


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False, out: Any = None) -> Any:
    """Return the solution X of A X = B, and for each matrix an error code that is 0 if there was no error.

    Args:
        A: square matrices of shape (*, n, n).
        B: right-hand sides of shape (*, n, k), or vectors (*, n).
        left: False solves X A = B.
        check_errors: raise an error for a singular matrix.
        out: a tuple of tensors for the results.

    Returns:
        A named tuple (result, info).

    Example:
        >>> torch.linalg.solve_ex(torch.eye(2), torch.ones(2)).info
        tensor(0, dtype=torch.int32)

    Mirrors torch/linalg/__init__.py, ``solve_ex``.
    """
    return _linalg.linalg_solve_ex(A, B, left=left, check_errors=check_errors, out=out)


def solve_triangular(
    A: Tensor,
    B: Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Return the solution X of A X = B for triangular matrices, by back substitution or forward substitution.

    Args:
        A: square matrices of shape (*, n, n), of which one triangle is read.
        B: right-hand sides of shape (*, n, k).
        upper: whether A is upper triangular (True) or lower triangular (False).
        left: False solves X A = B.
        unitriangular: take the diagonal as ones, and do not read it.
        out: where to put the result.

    Raises:
        RuntimeError: the shapes do not match, or the elements are not float32 or float64.

    Example:
        >>> A = torch.tensor([[1.0, 1.0], [0.0, 2.0]])
        >>> torch.linalg.solve_triangular(A, torch.tensor([[3.0], [4.0]]), upper=True)
        tensor([[1.],
                [2.]])

    Mirrors torch/linalg/__init__.py, ``solve_triangular``.
    """
    return _linalg.linalg_solve_triangular(A, B, upper=upper, left=left, unitriangular=unitriangular, out=out)


def lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False, out: Tensor | None = None
) -> Tensor:
    """Return the solution X of A X = B from the factors of A that :func:`lu_factor` returned.

    Args:
        LU: factors of shape (*, n, n).
        pivots: row swaps of shape (*, n).
        B: right-hand sides of shape (*, n, k).
        left: False solves X A = B.
        adjoint: use the transpose of A.
        out: where to put the result.

    Raises:
        RuntimeError: the shapes do not match, or the elements are not float32 or float64.

    Example:
        >>> LU, pivots = torch.linalg.lu_factor(torch.tensor([[0.0, 1.0], [2.0, 0.0]]))
        >>> torch.linalg.lu_solve(LU, pivots, torch.tensor([[3.0], [4.0]]))
        tensor([[2.],
                [3.]])

    Mirrors torch/linalg/__init__.py, ``lu_solve``.
    """
    return _linalg.linalg_lu_solve(LU, pivots, B, left=left, adjoint=adjoint, out=out)


def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    r"""Return the X that minimizes :math:`\|A X - B\|`.

    Args:
        A: matrices of shape (*, m, n).
        B: right-hand sides of shape (*, m, k), or vectors (*, m).
        rcond: singular values below ``rcond`` times the largest one count as zero.
        driver: LAPACK's routine: ``"gelsy"`` (the default), ``"gels"`` (A has full rank), ``"gelsd"``, ``"gelss"``.

    Returns:
        A named tuple (solution, residuals, rank, singular_values); a value that the driver does not compute is empty.

    Raises:
        RuntimeError: the shapes do not match, or the driver is unknown.

    Example:
        >>> A = torch.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
        >>> fit = torch.linalg.lstsq(A, torch.tensor([[1.0], [3.0], [5.0]])).solution
        >>> fit.round()
        tensor([[1.],
                [2.]])

    Mirrors torch/linalg/__init__.py, ``lstsq``.
    """
    return _linalg.linalg_lstsq(A, B, rcond, driver=driver)


def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False, out: Tensor | None = None) -> Tensor:
    """Return the solution X of A X = B from the factors of a symmetric A. This function has no gradient.

    Args:
        LD: matrices of shape (*, n, n) from :func:`ldl_factor`.
        pivots: the row swaps from :func:`ldl_factor`, integers of shape (*, n).
        B: right-hand sides of shape (*, n, k).
        hermitian: has no effect on real numbers.
        out: where to put the result.

    Raises:
        RuntimeError: shapes or dtypes do not match, or the pivots are not those of a factorization.

    Example:
        >>> LD, pivots = torch.linalg.ldl_factor(torch.tensor([[2.0, 0.0], [0.0, -4.0]]))
        >>> torch.linalg.ldl_solve(LD, pivots, torch.tensor([[2.0], [8.0]]))
        tensor([[ 1.],
                [-2.]])

    Mirrors torch/linalg/__init__.py, ``ldl_solve``.
    """
    return _linalg.linalg_ldl_solve(LD, pivots, B, hermitian=hermitian, out=out)


def pinv(
    A: Tensor,
    rcond: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
    out: Tensor | None = None,
) -> Tensor:
    r"""Return the pseudoinverses of matrices, :math:`V \Sigma^{-1} U^T` over the nonzero singular values.

    Args:
        A: matrices of shape (*, m, n).
        rcond: the older name of ``rtol``.
        hermitian: promise that the matrices are symmetric.
        atol: a number, or a tensor with a number for each matrix: singular values up to ``atol`` count as zero.
        rtol: a number or a tensor like ``atol``, relative to the largest singular value.
        out: where to put the result.

    Returns:
        Matrices of shape (*, n, m).

    Example:
        >>> torch.linalg.pinv(torch.tensor([[2.0, 0.0], [0.0, 0.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.0000]])

    Mirrors torch/linalg/__init__.py, ``pinv``.
    """
    if rcond is not None:
        return _linalg.linalg_pinv(A, rcond, hermitian, out=out)
    return _linalg.linalg_pinv(A, atol=atol, rtol=rtol, hermitian=hermitian, out=out)


def tensorinv(A: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """Return the inverse of a tensor that stands for a matrix: its first ``ind`` dimensions are the rows.

    Args:
        A: a tensor; the product of its first ``ind`` sizes equals the product of the others.
        ind: the number of dimensions that are rows.
        out: where to put the result.

    Example:
        >>> torch.linalg.tensorinv(torch.eye(4).reshape(2, 2, 4)).shape
        torch.Size([4, 2, 2])

    Mirrors torch/linalg/__init__.py, ``tensorinv``.
    """
    return _linalg.linalg_tensorinv(A, ind, out=out)


def tensorsolve(A: Tensor, B: Tensor, dims: Any = None, *, out: Tensor | None = None) -> Tensor:
    """Return the X whose product with A, summed over all dimensions of X, is B.

    Args:
        A: a tensor whose first dimensions are those of ``B``; the others are those of X.
        B: the right-hand side.
        dims: dimensions of A that are moved to the end first.
        out: where to put the result.

    Example:
        >>> torch.linalg.tensorsolve(torch.eye(4).reshape(2, 2, 4), torch.ones(2, 2))
        tensor([1., 1., 1., 1.])

    Mirrors torch/linalg/__init__.py, ``tensorsolve``.
    """
    return _linalg.linalg_tensorsolve(A, B, dims, out=out)
