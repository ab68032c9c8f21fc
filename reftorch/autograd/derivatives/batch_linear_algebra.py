"""Derivatives of LU factors, solutions, inverses and determinants of matrices.

Each formula differentiates the equation that the op solves. For X with A X = B: dA X + A dX = dB, so
dX = A^-1 (dB - dA X), and with G the gradient of X the gradients are A^-T G for B and -(A^-T G) X^T for A.

Mirrors: tools/autograd/derivatives.yaml (_linalg_solve_ex, linalg_inv_ex, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from typing import Any

from reftorch import _C
from reftorch._type_info import finfo
from reftorch.autograd.derivatives import derivative
from reftorch.autograd.derivatives._functions_manual import (
    diagonal_matrix,
    hides_values,
    is_vector_rhs,
    products_of_others,
    solve_triangular,
)

_fn = _C._VariableFunctions
_linalg = _C._linalg


def _solve_transposed(A: Any, LU: Any, pivots: Any, B: Any, left: bool = True) -> Any:
    """Return X with A^T X = B.

    If this computation is recorded, factor A again, because the saved factors have no history.
    """
    if _C.is_grad_enabled():
        return _linalg.linalg_solve(A.mT, B, left=left)
    return _linalg.linalg_lu_solve(LU, pivots, B, left=left, adjoint=True)


# --- solutions and inverses -------------------------------------------------------------------------------------------


@derivative("_linalg_solve_ex", inputs=["A", "B"], output_differentiability=[True, False, False, False])
def _linalg_solve_ex(grad, A, A_sizes, B_sizes, LU, pivots, result, left):
    vector = is_vector_rhs(A_sizes, B_sizes)
    grad, X = (t.unsqueeze(-1) if vector else t for t in (grad, result))
    grad_B = _solve_transposed(A, LU, pivots, grad, left)
    grad_A = -(grad_B @ X.mT if left else X.mT @ grad_B)
    return grad_A, grad_B.squeeze(-1) if vector else grad_B


# A A^-1 = I, so d(A^-1) = -A^-1 dA A^-1
derivative("linalg_inv_ex", A=lambda grad, inverse: -(inverse.mT @ grad @ inverse.mT))


@derivative("linalg_lu_solve", inputs=["LU", "B"])
def _linalg_lu_solve(grad, LU, pivots, result, left, adjoint):
    grad_B = _linalg.linalg_lu_solve(LU, pivots, grad, left=left, adjoint=not adjoint)
    grad_A = -(grad_B @ result.mT if left else result.mT @ grad_B)  # of A = P L U, or of A^T
    P, L, U = _fn.lu_unpack(LU, pivots)
    grad_PA = P.mT @ (grad_A.mT if adjoint else grad_A)
    return (grad_PA @ U.mT).tril(-1) + (L.mT @ grad_PA).triu(), grad_B


# --- LU ---------------------------------------------------------------------------------------------------------------


# A = P L U, with U = (U1 U2) or L = (L1; L2) if A is not square. L^-1 P^T dA U^-1 = L^-1 dL + dU U^-1: the first term
# lies below the diagonal, the second term lies on and above the diagonal.
def _lu_backward(grad_L, grad_U, P, L, U):
    k = L.shape[-1]
    L1, L2, U1, U2 = L[..., :k, :], L[..., k:, :], U[..., :, :k], U[..., :, k:]
    grad_L1, grad_L2, grad_U1, grad_U2 = grad_L[..., :k, :], grad_L[..., k:, :], grad_U[..., :, :k], grad_U[..., :, k:]
    below = L1.mT @ grad_L1 - grad_U2 @ U2.mT
    above = grad_U1 @ U1.mT - L2.mT @ grad_L2

    def undo_U(M):  # M U1^-T
        return solve_triangular(U1.mT, M, upper=False, left=False)

    def undo_L(M):  # L1^-T M
        return solve_triangular(L1.mT, M, upper=True, unitriangular=True)

    grad_A = undo_U(undo_L(below.tril(-1) + above.triu()))
    if U2.shape[-1] > 0:
        grad_A = _fn.cat([grad_A, undo_L(grad_U2)], -1)
    if L2.shape[-2] > 0:
        grad_A = _fn.cat([grad_A, undo_U(grad_L2)], -2)
    return P @ grad_A


derivative(
    "linalg_lu",
    output_differentiability=[False, True, True],
    A=lambda grads, P, L, U: _lu_backward(grads[0], grads[1], P, L, U),
)


def _lu_factor_backward(grad, LU, pivots):
    k = min(LU.shape[-2:])
    P, L, U = _fn.lu_unpack(LU, pivots)
    return _lu_backward(grad[..., :, :k].tril(-1), grad[..., :k, :].triu(), P, L, U)


derivative("linalg_lu_factor_ex", A=_lu_factor_backward)


def _lu_unpack_backward(grads, LU_data_sizes, unpack_data):
    if not unpack_data:
        return None
    m, n = LU_data_sizes[-2:]
    grad_L, grad_U = grads[0].tril(-1), grads[1].triu()
    if n > m:
        grad_L = _fn.cat([grad_L, grad_L.new_zeros([*grad_L.shape[:-1], n - m])], -1)
    if m > n:
        grad_U = _fn.cat([grad_U, grad_U.new_zeros([*grad_U.shape[:-2], m - n, n])], -2)
    return grad_L + grad_U


derivative("lu_unpack", output_differentiability=[False, True, True], LU_data=_lu_unpack_backward)

# --- determinants -----------------------------------------------------------------------------------------------------


def _cofactors(A: Any) -> Any:
    """Return d det(A) / dA without a division by zero: det(U) det(V) U diag(the product of the other s) V^T."""
    U, S, Vh = _linalg.linalg_svd(A)
    others = products_of_others(S, -1)
    sign = (_linalg.linalg_det(U) * _linalg.linalg_det(Vh))[..., None, None]
    return sign * (U * others.unsqueeze(-2)) @ Vh


def _nearly_singular(A: Any, det: Any) -> Any:
    """Return whether det(A) A^-1 is inaccurate. A zero breaks the first derivative, a small value the second one."""
    return det.abs() < 100 * finfo(A.dtype).eps if _C.is_grad_enabled() else det == 0


# d det(A) = det(A) tr(A^-1 dA)
@derivative("_linalg_det", inputs=["A"], output_differentiability=[True, False, False])
def _linalg_det(grad, A, LU, pivots, result):
    singular = _nearly_singular(A, result.detach())
    if hides_values(A) or singular.all():
        return (grad[..., None, None] * _cofactors(A),)
    diagonal = diagonal_matrix((grad * result).unsqueeze(-1).expand(A.shape[:-1]))
    if not singular.any():
        return (_solve_transposed(A, LU, pivots, diagonal),)
    regular = singular.logical_not()
    cofactors = grad[singular][..., None, None] * _cofactors(A[singular])
    solutions = _solve_transposed(A[regular], LU[regular], pivots[regular], diagonal[regular])
    return (_fn.zeros_like(A).index_put([singular], cofactors).index_put([regular], solutions),)


# d log|det(A)| = tr(A^-1 dA); the sign is constant
@derivative("_linalg_slogdet", inputs=["A"], output_differentiability=[True, True, False, False])
def _linalg_slogdet(grads, A, LU, pivots):
    diagonal = grads[1].unsqueeze(-1).expand(A.shape[:-1])
    return (_solve_transposed(A, LU, pivots, diagonal_matrix(diagonal)),)
