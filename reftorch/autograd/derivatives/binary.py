"""Arithmetic of two or three tensors, or of tensors and numbers.

Mirrors: tools/autograd/derivatives.yaml (add, sub, mul, div, pow, lerp), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex conjugates.
"""

import math
from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative, not_implemented

_fn = _C._VariableFunctions

# --- linear in both --------------------------------------------------------------------------------------------------

derivative("add.Tensor", self=lambda grad: grad, other=lambda grad, alpha: grad if alpha == 1 else grad * alpha)

derivative("sub.Tensor", self=lambda grad: grad, other=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha)

derivative("rsub.Tensor", self=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha, other=lambda grad: grad)
derivative("rsub.Scalar", self=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha)

# --- products and quotients ------------------------------------------------------------------------------------------

derivative(
    "mul.Tensor",
    self=lambda grad, other: grad * other,
    other=lambda grad, self: grad * self,
)

# d(a/b) = da/b - (a/b)/b db
derivative(
    "div.Tensor",
    self=lambda grad, other: grad / other,
    other=lambda grad, self, other: -grad * ((self / other) / other),
)

# The derivative of a rounded quotient is 0.
derivative(
    "div.Tensor_mode",
    self=lambda grad, other, rounding_mode: grad / other if rounding_mode is None else _fn.zeros_like(grad),
    other=lambda grad, self, other, rounding_mode: (
        -grad * ((self / other) / other) if rounding_mode is None else _fn.zeros_like(grad)
    ),
)

not_implemented("floor_divide")

# a = b floor(a/b) + remainder
derivative(
    "remainder.Tensor",
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * self.div(other, rounding_mode="floor"),
)
derivative("remainder.Scalar", self=lambda grad: grad)
derivative(
    "remainder.Scalar_Tensor", other=lambda grad, self, other: -grad * _fn.div(self, other, rounding_mode="floor")
)

derivative(
    "fmod.Tensor",
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * self.div(other, rounding_mode="trunc"),
)
derivative("fmod.Scalar", self=lambda grad: grad)

# --- three at a time -------------------------------------------------------------------------------------------------

derivative(
    "addcmul",
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (tensor2 * value),
    tensor2=lambda grad, tensor1, value: grad * (tensor1 * value),
)

derivative(
    "addcdiv",
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (value / tensor2),
    tensor2=lambda grad, tensor1, tensor2, value: -grad * (value * tensor1 / (tensor2 * tensor2)),
)

derivative("lerp.Scalar", self=lambda grad, weight: grad * (1 - weight), end=lambda grad, weight: grad * weight)

derivative(
    "lerp.Tensor",
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
    weight=lambda grad, self, end: grad * (end - self),
)

# --- powers ----------------------------------------------------------------------------------------------------------

derivative(
    "pow.Tensor_Scalar",
    self=lambda grad, self, exponent: (
        _fn.zeros_like(grad) if exponent == 0 else grad * (exponent * self.pow(exponent - 1))
    ),
)


# x^0 is 1 for every x, so the derivative is 0 where the general rule gives 0 * infinity. The same holds for 0^b log 0.
def _pow_self(grad: Any, self: Any, exponent: Any) -> Any:
    return _fn.where(exponent == 0, 0.0, grad * (exponent * self.pow(exponent - 1)))


def _pow_exponent(grad: Any, self: Any, exponent: Any, result: Any) -> Any:
    flat = (self == 0).logical_and(exponent >= 0)
    return grad * _fn.where(flat, 0.0, result * self.to(result.dtype).log())


derivative("pow.Tensor_Tensor", self=_pow_self, exponent=_pow_exponent)


def _pow_scalar(grad: Any, self: float, exponent: Any, result: Any) -> Any:
    if self == 0:
        return _fn.where(exponent >= 0, 0.0, grad * result * -math.inf)
    return grad * (result * (math.log(self) if self > 0 else math.nan))


derivative("pow.Scalar", exponent=_pow_scalar)
