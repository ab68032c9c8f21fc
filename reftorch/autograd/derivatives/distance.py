"""Derivatives of distances between vectors, and renorm.

Mirrors: tools/autograd/derivatives.yaml (dist, _cdist_forward, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative, not_implemented
from reftorch.autograd.derivatives._functions_manual import norm_backward, quotient

_fn, _nn = _C._VariableFunctions, _C._nn
derivative(
    "dist",
    self=lambda grad, self, other, p, result: norm_backward(grad, self - other, p, result),
    other=lambda grad, self, other, p, result: -norm_backward(grad, self - other, p, result),
)


# d_ij = |x_i - y_j|: each x_i is in a row of distances, each y_j in a column. The backward op has no derivative, so a
# gradient that is differentiated again is made of other ops.
def _cdist(grad: Any, x: Any, y: Any, p: float, result: Any) -> Any:
    if not _C.is_grad_enabled():
        return _nn._cdist_backward(grad.contiguous(), x, y, p, result.contiguous())
    difference = x.unsqueeze(-2) - y.unsqueeze(-3)
    return norm_backward(grad, difference, p, result, -1).sum(-2)


derivative(
    "_cdist_forward",
    x1=lambda grad, x1, x2, p, result: _cdist(grad, x1, x2, p, result),
    x2=lambda grad, x1, x2, p, result: _cdist(grad.mT, x2, x1, p, result.mT),
)
_refusing = not_implemented("_cdist_backward")
derivative("_cdist_backward", grad=_refusing, x1=_refusing, x2=_refusing, cdist=_refusing)


@derivative("_euclidean_dist", inputs=["x1", "x2"])
def euclidean_dist(grad: Any, x1: Any, x2: Any, result: Any) -> Any:
    ratio = quotient(grad, result)
    return (
        x1 * ratio.sum(-1, True) - ratio.matmul(x2),
        x2 * ratio.sum(-2).unsqueeze(-1) - ratio.mT.matmul(x1),
    )


def _pdist(grad: Any, self: Any, p: float, result: Any) -> Any:
    """Each pair of rows is in one distance."""
    if result.numel() == 0 or self.size(1) == 0:
        return _fn.zeros_like(self)
    if not _C.is_grad_enabled():
        return _nn._pdist_backward(grad.contiguous(), self, p, result)
    first, second = _fn.triu_indices(self.size(0), self.size(0), 1, device=self.device)
    slope = norm_backward(grad, self[first] - self[second], p, result, 1)
    return _fn.zeros_like(self).index_add(0, first, slope).index_add(0, second, -slope)


derivative("_pdist_forward", self=_pdist)
_refusing = not_implemented("_pdist_backward")
derivative("_pdist_backward", grad=_refusing, self=_refusing, pdist=_refusing)


def _renorm(grad: Any, self: Any, p: float, dim: int, maxnorm: float) -> Any:
    """Differentiate y = x f with f = maxnorm / (|x| + 1e-7) if |x| > maxnorm, else 1."""
    if self.dtype in (_C.float16, _C.bfloat16):  # the norm may be larger than the largest of their numbers
        return _renorm(grad.float(), self.float(), p, dim, maxnorm).to(self.dtype)
    others = [d for d in range(self.dim()) if d != dim % self.dim()]
    norm = self.norm(p, others, keepdim=True)
    shrunk = norm > maxnorm
    factor = _fn.where(shrunk, maxnorm / (norm + 1e-7), 1.0)
    grad_norm = _fn.where(shrunk, -(grad * self).sum(others, keepdim=True) * maxnorm / (norm + 1e-7).pow(2), 0.0)
    return grad * factor + norm_backward(grad_norm, self, p, norm, others, keepdim=True)


derivative("renorm", self=_renorm)
