"""Derivatives of distances between vectors, and renorm.

Mirrors: tools/autograd/derivatives.yaml (dist, _cdist_forward, renorm), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative
from reftorch.autograd.derivatives._functions_manual import norm_backward

_fn = _C._VariableFunctions
derivative(
    "dist",
    self=lambda grad, self, other, p, result: norm_backward(grad, self - other, p, result),
    other=lambda grad, self, other, p, result: -norm_backward(grad, self - other, p, result),
)


# d_ij = |x_i - y_j|: each x_i is in a row of distances, each y_j in a column
def _cdist(grad: Any, x: Any, y: Any, p: float, result: Any) -> Any:
    difference = x.unsqueeze(-2) - y.unsqueeze(-3)
    return norm_backward(grad, difference, p, result, -1).sum(-2)


derivative(
    "_cdist_forward",
    x1=lambda grad, x1, x2, p, result: _cdist(grad, x1, x2, p, result),
    x2=lambda grad, x1, x2, p, result: _cdist(grad.mT, x2, x1, p, result.mT),
)


def _renorm(grad: Any, self: Any, p: float, dim: int, maxnorm: float) -> Any:
    """Differentiate y = x f with f = maxnorm / (|x| + 1e-7) if |x| > maxnorm, else 1."""
    others = [d for d in range(self.dim()) if d != dim % self.dim()]
    norm = self.norm(p, others, keepdim=True)
    shrunk = norm > maxnorm
    factor = _fn.where(shrunk, maxnorm / (norm + 1e-7), 1.0)
    grad_norm = _fn.where(shrunk, -(grad * self).sum(others, keepdim=True) * maxnorm / (norm + 1e-7).pow(2), 0.0)
    return grad * factor + norm_backward(grad_norm, self, p, norm, others, keepdim=True)


derivative("renorm", self=_renorm)
