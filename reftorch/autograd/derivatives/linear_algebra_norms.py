"""Derivatives of norms, ranks, powers and pseudo-inverses of matrices.

Mirrors: tools/autograd/derivatives.yaml (linalg_pinv, linalg_matrix_exp, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative
from reftorch.autograd.derivatives._functions_manual import norm_backward, pinv_backward

_fn = _C._VariableFunctions
_linalg = _C._linalg

# --- pseudoinverse and least squares ----------------------------------------------------------------------------------


@derivative("linalg_pinv.atol_rtol_tensor", inputs=["self"])
def _linalg_pinv(grad, self, result):
    return (pinv_backward(grad, result, self),)


# --- the exponential --------------------------------------------------------------------------------------------------


# exp of the blocks (A^T G; 0 A^T) has the derivative of exp at A^T in the direction G in its upper right corner
def _matrix_exp_backward(grad, self):
    n, A = self.shape[-1], self.mT
    blocks = _fn.cat([_fn.cat([A, grad], -1), _fn.cat([_fn.zeros_like(A), A], -1)], -2)
    return _linalg.linalg_matrix_exp(blocks)[..., :n, n:]


derivative("linalg_matrix_exp", self=_matrix_exp_backward)

# --- norms ------------------------------------------------------------------------------------------------------------

derivative(
    "linalg_vector_norm",
    self=lambda grad, self, ord, result, dim, keepdim: norm_backward(grad, self, ord, result, dim, keepdim),
)
