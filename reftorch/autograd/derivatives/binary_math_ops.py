"""Derivatives of mathematical functions of two tensors: angles, logarithms of sums, divisors.

Mirrors: tools/autograd/derivatives.yaml (atan2, hypot, logaddexp, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

import math
from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable

_fn = _C._VariableFunctions

# --- angle and length of the vector (other, self) ---------------------------------------------------------------------


# 1 / r^2; at the origin the angle is undefined, and the gradient is 0.
def _inverse_square(self: Any, other: Any) -> Any:
    square = self * self + other * other
    return _fn.where(square == 0, 0.0, square.reciprocal())


derivative(
    "atan2",
    self=lambda grad, self, other: grad * other * _inverse_square(self, other),
    other=lambda grad, self, other: grad * -self * _inverse_square(self, other),
    result="auto_element_wise",
)

derivative(
    "hypot",
    self=lambda grad, self, result: grad * (self / result),
    other=lambda grad, other, result: grad * (other / result),
    result="auto_element_wise",
)

# --- logarithms -------------------------------------------------------------------------------------------------------

derivative(
    "logaddexp",
    self=lambda grad, self, other: grad / (1 + (other - self).exp()),
    other=lambda grad, self, other: grad / (1 + (self - other).exp()),
    result="auto_element_wise",
)

derivative(
    "logaddexp2",
    self=lambda grad, self, other: grad / (1 + (other - self).exp2()),
    other=lambda grad, self, other: grad / (1 + (self - other).exp2()),
    result="auto_element_wise",
)


# The derivative of x log(y) by x is 0 where the op defines the result as 0.
def _xlogy_self(grad: Any, self: Any, other: Any) -> Any:
    return _fn.where((self == 0).logical_and(other <= 0), 0.0, _fn.xlogy(grad, other))


derivative(
    "xlogy.Tensor", self=_xlogy_self, other=lambda grad, self, other: grad * self / other, result="auto_element_wise"
)
derivative(
    "xlogy.Scalar_Self", other=lambda grad, self, other: grad * self / other, result="auto_element_wise", node_number=1
)
derivative(
    "xlogy.Scalar_Other",
    self=lambda grad, self, other: (
        _fn.xlogy(grad, other) if other > 0 else _fn.where(self == 0, 0.0, _fn.xlogy(grad, other))
    ),
    result="auto_element_wise",
    node_number=2,
)

# --- parts of floating-point numbers ----------------------------------------------------------------------------------

derivative(
    "ldexp.Tensor",
    self=lambda grad, other: grad * other.exp2(),
    other=lambda grad, result: grad * result * math.log(2),
)


# The result is self or -self.
def _copysign_self(grad: Any, self: Any, result: Any) -> Any:
    return grad * _fn.where(self == 0, 0.0, result / self)


derivative("copysign.Tensor", self=_copysign_self, other=lambda grad: _fn.zeros_like(grad), result="auto_element_wise")
derivative("copysign.Scalar", self=_copysign_self, result="auto_element_wise", node_number=1)

derivative(
    "nextafter",
    self=lambda grad, self, other: _fn.where(self == other, 0.0, grad),
    other=lambda grad: _fn.zeros_like(grad),
)

# --- the larger and the smaller; a number is preferred over NaN -------------------------------------------------------


def _first_is_larger(self: Any, other: Any) -> Any:
    return (self >= other).logical_or(other.isnan())


def _first_is_smaller(self: Any, other: Any) -> Any:
    return (self <= other).logical_or(other.isnan())


derivative(
    "fmax",
    self=lambda grad, self, other: _fn.where(_first_is_larger(self, other), grad, 0.0),
    other=lambda grad, self, other: _fn.where(_first_is_larger(self, other), 0.0, grad),
    result="auto_element_wise",
)

derivative(
    "fmin",
    self=lambda grad, self, other: _fn.where(_first_is_smaller(self, other), grad, 0.0),
    other=lambda grad, self, other: _fn.where(_first_is_smaller(self, other), 0.0, grad),
    result="auto_element_wise",
)

# --- integers ---------------------------------------------------------------------------------------------------------

non_differentiable("gcd", "lcm")
