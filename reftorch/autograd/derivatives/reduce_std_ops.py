"""Derivatives of variances and standard deviations.

Mirrors: tools/autograd/derivatives.yaml (var, std, var_mean, std_mean), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

import math
from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative
from reftorch.autograd.derivatives._functions_manual import reduced_count, reduced_dims, restored

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
