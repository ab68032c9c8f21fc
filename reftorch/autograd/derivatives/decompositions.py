"""Factorizations, solutions, inverses, determinants and norms of matrices.

Each formula differentiates the equation that the op solves. For X with A X = B: dA X + A dX = dB, so
dX = A^-1 (dB - dA X), and with G the gradient of X the gradients are A^-T G for B and -(A^-T G) X^T for A.

Mirrors: tools/autograd/derivatives.yaml (linalg_*), torch/csrc/autograd/FunctionsManual.cpp (svd_backward, ...)
Leaves out: complex conjugates; derivatives where singular values or eigenvalues coincide, which exist only for
functions that do not depend on the choice of the vectors.
"""

from typing import Any

from reftorch import _C
from reftorch._type_info import finfo
from reftorch.autograd.derivatives import derivative, not_implemented
from reftorch.autograd.derivatives.reduce import _norm

_fn = _C._VariableFunctions
_linalg = _C._linalg


def _diagonal_matrix(diagonal: Any) -> Any:
    return _fn.diag_embed(diagonal)


def _halved_diagonal(matrix: Any) -> Any:
    return matrix - _diagonal_matrix(matrix.diagonal(0, -2, -1)) * 0.5


def _solve_triangular(A: Any, B: Any, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    return _linalg.linalg_solve_triangular(A, B, upper=upper, left=left, unitriangular=unitriangular)


def _is_vector_rhs(A_sizes: Any, B_sizes: Any) -> bool:
    return len(B_sizes) == 1 or list(A_sizes[:-1]) == list(B_sizes)


def _solve_transposed(A: Any, LU: Any, pivots: Any, B: Any, left: bool = True) -> Any:
    """Return X with A^T X = B.

    If this computation is recorded, factor A again, because the saved factors have no history.
    """
    if _C.is_grad_enabled():
        return _linalg.linalg_solve(A.mT, B, left=left)
    return _linalg.linalg_lu_solve(LU, pivots, B, left=left, adjoint=True)


# --- solutions and inverses ------------------------------------------------------------------------------------------


@derivative("_linalg_solve_ex", inputs=["A", "B"], output_differentiability=[True, False, False, False])
def _linalg_solve_ex(grad, A, A_sizes, B_sizes, LU, pivots, result, left):
    vector = _is_vector_rhs(A_sizes, B_sizes)
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


@derivative("linalg_solve_triangular", inputs=["self", "B"])
def _linalg_solve_triangular(grad, self, result, upper, left, unitriangular):
    grad_B = _solve_triangular(self.mT, grad, not upper, left, unitriangular)
    grad_A = -(grad_B @ result.mT if left else result.mT @ grad_B)
    beside = 1 if unitriangular else 0  # the op did not read the diagonal
    return grad_A.triu(beside) if upper else grad_A.tril(-beside), grad_B


@derivative("triangular_solve", inputs=["self", "A"])
def _triangular_solve(grads, A, solution, upper, transpose, unitriangular):
    grad_b = _solve_triangular(A if transpose else A.mT, grads[0], upper == transpose, unitriangular=unitriangular)
    grad_A = -(solution @ grad_b.mT if transpose else grad_b @ solution.mT)
    beside = 1 if unitriangular else 0
    return grad_b, (grad_A.triu(beside) if upper else grad_A.tril(-beside)) + grads[1]


# --- LU --------------------------------------------------------------------------------------------------------------


# A = P L U, with U = (U1 U2) or L = (L1; L2) if A is not square. L^-1 P^T dA U^-1 = L^-1 dL + dU U^-1: the first term
# lies below the diagonal, the second term lies on and above the diagonal.
def _lu_backward(grad_L, grad_U, P, L, U):
    k = L.shape[-1]
    L1, L2, U1, U2 = L[..., :k, :], L[..., k:, :], U[..., :, :k], U[..., :, k:]
    grad_L1, grad_L2, grad_U1, grad_U2 = grad_L[..., :k, :], grad_L[..., k:, :], grad_U[..., :, :k], grad_U[..., :, k:]
    below = L1.mT @ grad_L1 - grad_U2 @ U2.mT
    above = grad_U1 @ U1.mT - L2.mT @ grad_L2

    def undo_U(M):  # M U1^-T
        return _solve_triangular(U1.mT, M, upper=False, left=False)

    def undo_L(M):  # L1^-T M
        return _solve_triangular(L1.mT, M, upper=True, unitriangular=True)

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

# --- determinants ----------------------------------------------------------------------------------------------------


def _cofactors(A: Any) -> Any:
    """Return d det(A) / dA without a division by zero: det(U) det(V) U diag(the product of the other s) V^T."""
    U, S, Vh = _linalg.linalg_svd(A)
    n = S.shape[-1]
    others = S.unsqueeze(-2).expand(*S.shape, n)
    others = _fn.where(_fn.eye(n, dtype=_C.bool), 1.0, others).prod(-1)
    sign = (_linalg.linalg_det(U) * _linalg.linalg_det(Vh))[..., None, None]
    return sign * (U * others.unsqueeze(-2)) @ Vh


def _nearly_singular(A: Any, det: Any) -> Any:
    """Return whether det(A) A^-1 is inaccurate. A zero breaks the first derivative, a small value the second one."""
    return det.abs() < 100 * finfo(A.dtype).eps if _C.is_grad_enabled() else det == 0


# d det(A) = det(A) tr(A^-1 dA)
@derivative("_linalg_det", inputs=["A"], output_differentiability=[True, False, False])
def _linalg_det(grad, A, LU, pivots, result):
    singular = _nearly_singular(A, result.detach())
    if _C._functorch.is_batched(A) or singular.all():
        return (grad[..., None, None] * _cofactors(A),)
    diagonal = _diagonal_matrix((grad * result).unsqueeze(-1).expand(A.shape[:-1]))
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
    return (_solve_transposed(A, LU, pivots, _diagonal_matrix(diagonal)),)


# --- Cholesky --------------------------------------------------------------------------------------------------------


# A = L L^T: dL = L phi(L^-1 dA L^-T), where phi returns the lower triangle with half of the diagonal. A is symmetric,
# and so is its gradient.
def _cholesky_backward(grad, L, upper):
    grad, L = (grad.mT, L.mT) if upper else (grad, L)
    phi = _halved_diagonal((L.mT @ grad).tril())
    grad_A = _solve_triangular(L, _solve_triangular(L.mT, phi, upper=True), upper=False, left=False)
    return (grad_A + grad_A.mT) * 0.5


derivative("linalg_cholesky_ex", self=lambda grad, L, upper: _cholesky_backward(grad, L, upper))


# The gradient of a factor, from the gradient of A = L L^T.
def _factor_grad(grad_A, factor, upper):
    symmetric = grad_A + grad_A.mT
    return factor @ symmetric if upper else symmetric @ factor


@derivative("cholesky_solve", inputs=["self", "input2"])
def _cholesky_solve(grad, input2, result, upper):
    grad_B = _fn.cholesky_solve(grad, input2, upper)
    return grad_B, _factor_grad(-(grad_B @ result.mT), input2, upper)


derivative(
    "cholesky_inverse", self=lambda grad, self, result, upper: _factor_grad(-(result @ grad @ result), self, upper)
)

# --- QR --------------------------------------------------------------------------------------------------------------


# A = Q R with R square: dR R^-1 is upper triangular and Q^T dQ is skew, which separates both in Q^T dA R^-1.
def _qr_square_backward(grad_Q, grad_R, Q, R):
    upper = (grad_R @ R.mT - Q.mT @ grad_Q).triu()
    symmetric = _halved_diagonal(upper + upper.mT)
    return _solve_triangular(R.mT, grad_Q + Q @ symmetric, upper=False, left=False)


@derivative("linalg_qr", inputs=["A"])
def _linalg_qr(grads, A_sizes, Q, R, mode):
    m, n = A_sizes[-2:]
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
            "linalg.qr(A, mode='reduced') if you are going to require its derivative."
        )
    if mode == "complete" and m > n:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
    grad_Q, grad_R = grads
    if m >= n:
        return (_qr_square_backward(grad_Q, grad_R, Q, R),)
    # A = (A1 A2), R = (R1 R2): A1 = Q R1 determines Q, and then R2 = Q^T A2
    R1, R2, grad_R1, grad_R2 = R[..., :m], R[..., m:], grad_R[..., :m], grad_R[..., m:]
    grad_A1 = _qr_square_backward(grad_Q + Q @ R2 @ grad_R2.mT, grad_R1, Q, R1)
    return (_fn.cat([grad_A1, Q @ grad_R2], -1),)


# --- singular values and eigenvalues ---------------------------------------------------------------------------------


def _differences(values: Any) -> Any:
    """Return values[j] - values[i] at (i, j). A difference of 0, as on the diagonal, is replaced by 1."""
    differences = values.unsqueeze(-2) - values.unsqueeze(-1)
    return _fn.where(differences == 0, 1.0, differences)


# A = U S V^T. U^T dA V = (U^T dU) S + dS + S (V^T dV)^T, where U^T dU and V^T dV are skew. The part of dU outside the
# columns of U comes from dA alone; so does that of dV.
@derivative("_linalg_svd", inputs=["A"])
def _linalg_svd(grads, U, S, Vh, compute_uv):
    if not compute_uv:
        raise RuntimeError(
            "svd_backward: Setting compute_uv to false in torch.svd doesn't compute singular matrices, "
            "and hence we cannot compute backward. Please use torch.svd(compute_uv=True)"
        )
    k = S.shape[-1]
    grad_U, grad_S, grad_Vh = grads[0][..., :k], grads[1], grads[2][..., :k, :]
    U, Vh = U[..., :k], Vh[..., :k, :]
    rotation_U, rotation_V = U.mT @ grad_U, Vh @ grad_Vh.mT
    row, column = S.unsqueeze(-2), S.unsqueeze(-1)
    inner = (rotation_U - rotation_U.mT) * row + column * (rotation_V - rotation_V.mT)
    inner = inner / _differences(S * S) + _diagonal_matrix(grad_S)
    grad_A = U @ inner @ Vh
    if U.shape[-2] > k:
        grad_A = grad_A + ((grad_U - U @ rotation_U) / row) @ Vh
    if Vh.shape[-1] > k:
        grad_A = grad_A + (U / row) @ (grad_Vh - rotation_V.mT @ Vh)
    return (grad_A,)


# A = V L V^T: V^T dA V = (V^T dV) L + dL - L (V^T dV), with V^T dV skew
@derivative("_linalg_eigh", inputs=["A"])
def _linalg_eigh(grads, eigenvalues, eigenvectors, compute_v):
    if not compute_v:
        raise RuntimeError("linalg.eigvalsh: the eigenvectors were not computed, which the derivative needs")
    grad_L, grad_V = grads
    V = eigenvectors
    rotation = V.mT @ grad_V / _differences(eigenvalues)
    rotation = rotation - _diagonal_matrix(rotation.diagonal(0, -2, -1))
    return (V @ (rotation + _diagonal_matrix(grad_L)) @ V.mT,)


# --- pseudoinverse and least squares ---------------------------------------------------------------------------------


# Golub and Pereyra, "The differentiation of pseudo-inverses", 1973
def _pinv_backward(grad, pinv, A):
    if A.shape[-2] <= A.shape[-1]:
        K = grad.mT @ pinv
        KP = K @ pinv.mT
        return KP - (pinv @ K).mT - A @ pinv @ KP + pinv.mT @ pinv @ (grad.mT - K @ A)
    K = pinv @ grad.mT
    PK = pinv.mT @ K
    return PK - (K @ pinv).mT + (grad.mT - A @ K) @ pinv @ pinv.mT - PK @ pinv @ A


@derivative("linalg_pinv.atol_rtol_tensor", inputs=["self"])
def _linalg_pinv(grad, self, result):
    return (_pinv_backward(grad, result, self),)


# X = A^+ B; and the residuals |A X - B|^2, whose derivative by X is zero at the minimum
@derivative("linalg_lstsq", inputs=["self", "b"], output_differentiability=[True, True, False, False])
def _linalg_lstsq(grads, self, b, solution, self_sizes, b_sizes):
    vector = _is_vector_rhs(self_sizes, b_sizes)
    grad_X, B, X = (t.unsqueeze(-1) if vector else t for t in (grads[0], b, solution))
    pinv = _linalg.linalg_pinv(self)
    grad_A, grad_B = _pinv_backward(grad_X @ B.mT, pinv, self), pinv.mT @ grad_X
    if grads[1].numel() > 0:
        grad_residuals = (grads[1].unsqueeze(-1) if vector else grads[1]).unsqueeze(-2)
        rest = 2 * (B - self @ X) * grad_residuals
        grad_A, grad_B = grad_A - rest @ X.mT, grad_B + rest
    return grad_A, grad_B.squeeze(-1) if vector else grad_B


# --- the exponential -------------------------------------------------------------------------------------------------


# exp of the blocks (A^T G; 0 A^T) has the derivative of exp at A^T in the direction G in its upper right corner
def _matrix_exp_backward(grad, self):
    n, A = self.shape[-1], self.mT
    blocks = _fn.cat([_fn.cat([A, grad], -1), _fn.cat([_fn.zeros_like(A), A], -1)], -2)
    return _linalg.linalg_matrix_exp(blocks)[..., :n, n:]


derivative("linalg_matrix_exp", self=_matrix_exp_backward)

# --- norms -----------------------------------------------------------------------------------------------------------

derivative(
    "linalg_vector_norm",
    self=lambda grad, self, ord, result, dim, keepdim: _norm(grad, self, ord, result, dim, keepdim),
)

not_implemented("geqrf")  # householder_product of the results of geqrf has a gradient

not_implemented("linalg_ldl_factor_ex", "linalg_ldl_solve")
