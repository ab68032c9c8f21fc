"""Derivatives of Cholesky, QR, singular value and eigenvalue factors of matrices.

Each formula differentiates the equation that the op solves, as those in ``batch_linear_algebra`` do.

Mirrors: tools/autograd/derivatives.yaml (linalg_solve_triangular, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex conjugates; derivatives where singular values or eigenvalues coincide, which exist only for
functions that do not depend on the choice of the vectors.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative
from reftorch.autograd.derivatives._functions_manual import (
    diagonal_matrix,
    is_vector_rhs,
    pinv_backward,
    solve_triangular,
)

_fn = _C._VariableFunctions
_linalg = _C._linalg


def _halved_diagonal(matrix: Any) -> Any:
    return matrix - diagonal_matrix(matrix.diagonal(0, -2, -1)) * 0.5


# --- solutions and inverses -------------------------------------------------------------------------------------------


@derivative("linalg_solve_triangular", inputs=["self", "B"])
def _linalg_solve_triangular(grad, self, result, upper, left, unitriangular):
    grad_B = solve_triangular(self.mT, grad, not upper, left, unitriangular)
    grad_A = -(grad_B @ result.mT if left else result.mT @ grad_B)
    beside = 1 if unitriangular else 0  # the op did not read the diagonal
    return grad_A.triu(beside) if upper else grad_A.tril(-beside), grad_B


@derivative("triangular_solve", inputs=["self", "A"])
def _triangular_solve(grads, A, solution, upper, transpose, unitriangular):
    grad_b = solve_triangular(A if transpose else A.mT, grads[0], upper == transpose, unitriangular=unitriangular)
    grad_A = -(solution @ grad_b.mT if transpose else grad_b @ solution.mT)
    beside = 1 if unitriangular else 0
    return grad_b, (grad_A.triu(beside) if upper else grad_A.tril(-beside)) + grads[1]


# --- Cholesky ---------------------------------------------------------------------------------------------------------


# A = L L^T: dL = L phi(L^-1 dA L^-T), where phi returns the lower triangle with half of the diagonal. A is symmetric,
# so the gradient with respect to A is made symmetric too.
def _cholesky_backward(grad, L, upper):
    grad, L = (grad.mT, L.mT) if upper else (grad, L)
    phi = _halved_diagonal((L.mT @ grad).tril())
    grad_A = solve_triangular(L, solve_triangular(L.mT, phi, upper=True), upper=False, left=False)
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

# --- QR ---------------------------------------------------------------------------------------------------------------


# A = Q R with R square: dR R^-1 is upper triangular and Q^T dQ is skew, which separates both in Q^T dA R^-1.
def _qr_square_backward(grad_Q, grad_R, Q, R):
    upper = (grad_R @ R.mT - Q.mT @ grad_Q).triu()
    symmetric = _halved_diagonal(upper + upper.mT)
    return solve_triangular(R.mT, grad_Q + Q @ symmetric, upper=False, left=False)


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


# --- singular values and eigenvalues ----------------------------------------------------------------------------------


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
    inner = inner / _differences(S * S) + diagonal_matrix(grad_S)
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
    rotation = rotation - diagonal_matrix(rotation.diagonal(0, -2, -1))
    return (V @ (rotation + diagonal_matrix(grad_L)) @ V.mT,)


# --- pseudoinverse and least squares ----------------------------------------------------------------------------------


# X = A^+ B; and the residuals |A X - B|^2, whose derivative by X is zero at the minimum
@derivative("linalg_lstsq", inputs=["self", "b"], output_differentiability=[True, True, False, False])
def _linalg_lstsq(grads, self, b, solution, self_sizes, b_sizes):
    vector = is_vector_rhs(self_sizes, b_sizes)
    grad_X, B, X = (t.unsqueeze(-1) if vector else t for t in (grads[0], b, solution))
    pinv = _linalg.linalg_pinv(self)
    grad_A, grad_B = pinv_backward(grad_X @ B.mT, pinv, self), pinv.mT @ grad_X
    if grads[1].numel() > 0:
        grad_residuals = (grads[1].unsqueeze(-1) if vector else grads[1]).unsqueeze(-2)
        rest = 2 * (B - self @ X) * grad_residuals
        grad_A, grad_B = grad_A - rest @ X.mT, grad_B + rest
    return grad_A, grad_B.squeeze(-1) if vector else grad_B
