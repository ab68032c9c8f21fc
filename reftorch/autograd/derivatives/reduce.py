"""Reductions: the gradient of a result flows to the elements that the result was computed from.

Mirrors: tools/autograd/derivatives.yaml (sum, prod, max, var, norm), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers; the subgradients of norms with 0 < p < 1 at zero.
"""

import math
from collections.abc import Sequence
from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable

_fn = _C._VariableFunctions


def _dims(dim: int | Sequence[int] | None, ndim: int) -> list[int]:
    """Return the reduced dimensions, counted from the front; None or an empty list means all dimensions."""
    if dim is None:
        return list(range(ndim))
    dims = [dim] if isinstance(dim, int) else list(dim)
    return sorted(d % ndim for d in dims) if dims and ndim > 0 else list(range(ndim))


def _restore(reduced: Any, sizes: Sequence[int], dim: int | Sequence[int] | None, keepdim: bool) -> Any:
    """Insert the dimensions that a reduction removed, with size 1."""
    if keepdim or not sizes:
        return reduced
    for d in _dims(dim, len(sizes)):
        reduced = reduced.unsqueeze(d)
    return reduced


def _count(sizes: Sequence[int], dim: int | Sequence[int] | None) -> int:
    return math.prod(sizes[d] for d in _dims(dim, len(sizes)))


# --- sums and means --------------------------------------------------------------------------------------------------

derivative("sum", self=lambda grad, self_sizes: grad.expand(self_sizes))
derivative(
    "sum.dim_IntList",
    self=lambda grad, self_sizes, dim, keepdim: _restore(grad, self_sizes, dim, keepdim).expand(self_sizes),
)

derivative("mean", self=lambda grad, self_sizes: grad.expand(self_sizes) / math.prod(self_sizes))
derivative(
    "mean.dim",
    self=lambda grad, self_sizes, dim, keepdim: (
        _restore(grad, self_sizes, dim, keepdim).expand(self_sizes) / _count(self_sizes, dim)
    ),
)

derivative(
    "nansum",
    self=lambda grad, self, dim, keepdim: _restore(grad, self.shape, dim, keepdim).expand(self.shape) * (self == self),
)
derivative(
    "logsumexp",
    self=lambda grad, self, result, dim, keepdim: (
        _restore(grad, self.shape, dim, keepdim) * (self - _restore(result, self.shape, dim, keepdim)).exp()
    ),
)

# --- products --------------------------------------------------------------------------------------------------------


def _products_of_others(self: Any, dim: int) -> Any:
    """Return for each element the product of the others along ``dim``. A division by the element may be 0 / 0."""
    row = self.movedim(dim, -1)
    n = row.size(-1)
    others = _fn.where(_fn.eye(n, dtype=_C.bool), 1.0, row.unsqueeze(-2))  # (..., n, n): row i without element i
    return others.prod(-1).movedim(-1, dim)


def may_have_zero(tensor: Any) -> bool:
    """Return whether there may be a zero. Under vmap the values cannot be read, and True is always correct."""
    return _C._functorch.is_batched(tensor) or (tensor == 0).any().item()


def _prod_dim(grad: Any, self: Any, result: Any, dim: int, keepdim: bool) -> Any:
    if self.dim() == 0:
        return grad
    grad, result = (_restore(t, self.shape, dim, keepdim) for t in (grad, result))
    if may_have_zero(self):
        return grad * _products_of_others(self, dim)
    return grad * result / self


def _prod(grad: Any, self: Any, result: Any) -> Any:
    if may_have_zero(self):
        return grad * _products_of_others(self.reshape(-1), 0).reshape(self.shape)
    return grad * result / self


derivative("prod", self=_prod)
derivative("prod.dim_int", self=_prod_dim)

# --- the largest and the smallest ------------------------------------------------------------------------------------


def _share_equally(grad: Any, self: Any, result: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Distribute the gradient equally among all elements that equal the extremum."""
    grad, result = (_restore(t, self.shape, dim, keepdim) for t in (grad, result))
    is_extremum = (self == result).logical_or(self.isnan())
    count = is_extremum.sum(_dims(dim, self.dim()), keepdim=True)
    return _fn.where(is_extremum, grad / count, 0.0)


def _to_index(grad: Any, self_sizes: Sequence[int], indices: Any, dim: int, keepdim: bool) -> Any:
    """Give the whole gradient to the chosen element."""
    if not self_sizes:
        return grad
    grad, indices = (_restore(t, self_sizes, dim, keepdim) for t in (grad, indices))
    zeros = _fn.zeros(tuple(self_sizes), dtype=grad.dtype)
    return zeros.scatter(dim, indices, grad)


derivative("max", self=lambda grad, self, result: _share_equally(grad, self, result))
derivative("min", self=lambda grad, self, result: _share_equally(grad, self, result))


@derivative("aminmax", inputs=["self"])
def aminmax(grads: Any, self: Any, min: Any, max: Any, dim: int | None, keepdim: bool) -> tuple[Any]:
    return (_share_equally(grads[0], self, min, dim, keepdim) + _share_equally(grads[1], self, max, dim, keepdim),)


derivative("amax", self=_share_equally)
derivative("amin", self=_share_equally)
derivative("max.dim", self=_to_index)
derivative("min.dim", self=_to_index)

non_differentiable("argmax", "argmin", "all", "all.dim", "any", "any.dim", "all.dims", "any.dims")

# --- spread ----------------------------------------------------------------------------------------------------------


# var = sum (x - mean)^2 / (n - correction)
def _var(grad: Any, self: Any, dim: Any, correction: float | None, keepdim: bool) -> Any:
    dims = _dims(dim, self.dim())
    divisor = _count(self.shape, dim) - (1 if correction is None else correction)
    deviation = self - self.mean(dims, keepdim=True)
    if divisor <= 0 and (dim is None or not self.shape):  # 2 / 0 is infinite, whatever the gradient of the deviation is
        return grad * _fn.where(deviation == 0, math.nan, math.inf)
    factor = 2 / divisor if divisor != 0 else math.inf
    return _restore(grad, self.shape, dim, keepdim) * factor * deviation


# std = sqrt(var); where std is zero, the gradient is zero
def _std(grad: Any, self: Any, result: Any, dim: Any, correction: float | None, keepdim: bool) -> Any:
    return _var(_fn.where(result == 0, 0.0, grad / (2 * result)), self, dim, correction, keepdim)


derivative("var.correction", self=_var)
derivative("std.correction", self=_std)


def _mean_back(grad: Any, self: Any, dim: Any, keepdim: bool) -> Any:
    return _restore(grad, self.shape, dim, keepdim).expand(self.shape) / _count(self.shape, dim)


@derivative("var_mean.correction", inputs=["self"])
def var_mean(grads: Any, self: Any, dim: Any, correction: float | None, keepdim: bool) -> tuple[Any]:
    return (_var(grads[0], self, dim, correction, keepdim) + _mean_back(grads[1], self, dim, keepdim),)


@derivative("std_mean.correction", inputs=["self"])
def std_mean(grads: Any, self: Any, result: Any, dim: Any, correction: float | None, keepdim: bool) -> tuple[Any]:
    return (_std(grads[0], self, result, dim, correction, keepdim) + _mean_back(grads[1], self, dim, keepdim),)


# --- norms -----------------------------------------------------------------------------------------------------------


# |x|_p = (sum |x|^p)^(1/p)
def _norm(grad: Any, self: Any, p: float | None, result: Any, dim: Any = None, keepdim: bool = False) -> Any:
    p = 2 if p is None else p
    grad, result = (_restore(t, self.shape, dim, keepdim) for t in (grad, result))
    if p == 0:
        return _fn.zeros_like(self)
    if p == 1:
        return grad * self.sign()
    if p == 2:
        return grad * _fn.where(result == 0, 0.0, self / result)
    if math.isinf(p):
        return self.sign() * _share_equally(grad, self.abs(), result, dim, keepdim=True)
    power = _fn.where(self == 0, 0.0, self * self.abs().pow(p - 2))
    return power * _fn.where(result == 0, 0.0, grad / result.pow(p - 1))


derivative("norm.Scalar", self=lambda grad, self, p, result: _norm(grad, self, p, result))
derivative("norm.ScalarOpt_dim", self=_norm)


def _norm_in(
    dtype: Any, grad: Any, self: Any, p: float | None, result: Any, dim: Any = None, keepdim: Any = False
) -> Any:
    return _norm(grad, self.to(dtype=dtype), p, result, dim, keepdim)


derivative("norm.ScalarOpt_dtype", self=lambda grad, self, p, result, dtype: _norm_in(dtype, grad, self, p, result))
derivative(
    "norm.ScalarOpt_dim_dtype",
    self=lambda grad, self, p, result, dim, keepdim, dtype: _norm_in(dtype, grad, self, p, result, dim, keepdim),
)
derivative(
    "dist",
    self=lambda grad, self, other, p, result: _norm(grad, self - other, p, result),
    other=lambda grad, self, other, p, result: -_norm(grad, self - other, p, result),
)


# d_ij = |x_i - y_j|: each x_i is in a row of distances, each y_j in a column
def _cdist(grad: Any, x: Any, y: Any, p: float, result: Any) -> Any:
    difference = x.unsqueeze(-2) - y.unsqueeze(-3)
    return _norm(grad, difference, p, result, -1).sum(-2)


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
    return grad * factor + _norm(grad_norm, self, p, norm, others, keepdim=True)


derivative("renorm", self=_renorm)
