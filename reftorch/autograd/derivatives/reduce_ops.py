"""Derivatives of reductions: the gradient of a result flows to the elements that the result was computed from.

Mirrors: tools/autograd/derivatives.yaml (sum, mean, nansum, logsumexp, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers; the subgradients of norms with 0 < p < 1 at zero.
"""

import math
from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable
from reftorch.autograd.derivatives._functions_manual import (
    may_have_zero,
    norm_backward,
    products_of_others,
    reduced_count,
    reduced_dims,
    restored,
)

# --- sums and means ---------------------------------------------------------------------------------------------------

derivative("sum", self=lambda grad, self_sizes: grad.expand(self_sizes), result="auto_linear")
derivative(
    "sum.dim_IntList",
    self=lambda grad, self_sizes, dim, keepdim: restored(grad, self_sizes, dim, keepdim).expand(self_sizes),
    result="auto_linear",
    node_number=1,
)

derivative("mean", self=lambda grad, self_sizes: grad.expand(self_sizes) / math.prod(self_sizes), result="auto_linear")
derivative(
    "mean.dim",
    self=lambda grad, self_sizes, dim, keepdim: (
        restored(grad, self_sizes, dim, keepdim).expand(self_sizes) / reduced_count(self_sizes, dim)
    ),
    result="auto_linear",
    node_number=1,
)

derivative(
    "nansum",
    self=lambda grad, self, dim, keepdim: restored(grad, self.shape, dim, keepdim).expand(self.shape) * (self == self),
)
derivative(
    "logsumexp",
    self=lambda grad, self, result, dim, keepdim: (
        restored(grad, self.shape, dim, keepdim) * (self - restored(result, self.shape, dim, keepdim)).exp()
    ),
)

# --- products ---------------------------------------------------------------------------------------------------------


def _prod_dim(grad: Any, self: Any, result: Any, dim: int, keepdim: bool) -> Any:
    if self.dim() == 0:
        return grad
    grad, result = (restored(t, self.shape, dim, keepdim) for t in (grad, result))
    if may_have_zero(self):
        return grad * products_of_others(self, dim)
    return grad * result / self


def _prod(grad: Any, self: Any, result: Any) -> Any:
    if may_have_zero(self):
        return grad * products_of_others(self.reshape(-1), 0).reshape(self.shape)
    return grad * result / self


derivative("prod", self=_prod)
derivative("prod.dim_int", self=_prod_dim, node_number=1)

# --- truth values -----------------------------------------------------------------------------------------------------

non_differentiable("all", "all.dim", "any", "any.dim", "all.dims", "any.dims")

# --- norms ------------------------------------------------------------------------------------------------------------

derivative("norm.Scalar", self=lambda grad, self, p, result: norm_backward(grad, self, p, result))
derivative("norm.ScalarOpt_dim", self=norm_backward, node_number=1)


def _norm_in(
    dtype: Any, grad: Any, self: Any, p: float | None, result: Any, dim: Any = None, keepdim: Any = False
) -> Any:
    return norm_backward(grad, self.to(dtype=dtype), p, result, dim, keepdim)


derivative(
    "norm.ScalarOpt_dtype",
    self=lambda grad, self, p, result, dtype: _norm_in(dtype, grad, self, p, result),
    node_number=2,
)
derivative(
    "norm.ScalarOpt_dim_dtype",
    self=lambda grad, self, p, result, dim, keepdim, dtype: _norm_in(dtype, grad, self, p, result, dim, keepdim),
    node_number=3,
)

# --- variance and standard deviation ----------------------------------------------------------------------------------

_fn = _C._VariableFunctions


# var = sum (x - mean)^2 / (n - correction)
def _var(grad: Any, self: Any, dim: Any, correction: float | None, keepdim: bool) -> Any:
    dims = reduced_dims(dim, self.dim())
    divisor = reduced_count(self.shape, dim) - (1 if correction is None else correction)
    deviation = self - self.mean(dims, keepdim=True)
    if divisor <= 0 and (dim is None or not self.shape):  # 2 / 0 is infinite, whatever the gradient of the deviation is
        return grad * _fn.where(deviation == 0, math.nan, math.inf)
    factor = 2 / divisor if divisor != 0 else math.inf
    return restored(grad, self.shape, dim, keepdim) * factor * deviation


# std = sqrt(var); where std is zero, the gradient is zero
def _std(grad: Any, self: Any, result: Any, dim: Any, correction: float | None, keepdim: bool) -> Any:
    return _var(_fn.where(result == 0, 0.0, grad / (2 * result)), self, dim, correction, keepdim)


derivative("var.correction", self=_var)
derivative("std.correction", self=_std)


def _mean_back(grad: Any, self: Any, dim: Any, keepdim: bool) -> Any:
    return restored(grad, self.shape, dim, keepdim).expand(self.shape) / reduced_count(self.shape, dim)


@derivative("var_mean.correction", inputs=["self"])
def var_mean(grads: Any, self: Any, dim: Any, correction: float | None, keepdim: bool) -> tuple[Any]:
    return (_var(grads[0], self, dim, correction, keepdim) + _mean_back(grads[1], self, dim, keepdim),)


@derivative("std_mean.correction", inputs=["self"])
def std_mean(grads: Any, self: Any, result: Any, dim: Any, correction: float | None, keepdim: bool) -> tuple[Any]:
    return (_std(grads[0], self, result, dim, correction, keepdim) + _mean_back(grads[1], self, dim, keepdim),)
