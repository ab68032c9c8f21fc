"""Derivatives of functions of one number.

Mirrors: tools/autograd/derivatives.yaml (exp, expm1, exp2, log, ...)
Leaves out: complex numbers.
"""

import math

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable

_fn = _C._VariableFunctions
_zeros_like = _fn.zeros_like

# --- powers and logarithms --------------------------------------------------------------------------------------------

derivative("exp", self=lambda grad, result: grad * result, result="auto_element_wise")
derivative("expm1", self=lambda grad, result: grad * (result + 1), result="auto_element_wise")
derivative("exp2", self=lambda grad, result: grad * result * math.log(2), result="auto_element_wise")
derivative("log", self=lambda grad, self: grad / self, result="auto_element_wise")
derivative("log2", self=lambda grad, self: grad / (self * math.log(2)), result="auto_element_wise")
derivative("log10", self=lambda grad, self: grad / (self * math.log(10)), result="auto_element_wise")
derivative("log1p", self=lambda grad, self: grad / (self + 1), result="auto_element_wise")
derivative("sqrt", self=lambda grad, result: grad / (2 * result), result="auto_element_wise")
derivative("rsqrt", self=lambda grad, result: -0.5 * grad * result * result * result, result="auto_element_wise")
derivative("reciprocal", self=lambda grad, result: -grad * result * result, result="auto_element_wise")

# --- trigonometric and hyperbolic functions ---------------------------------------------------------------------------

derivative("sin", self=lambda grad, self: grad * self.cos(), result="auto_element_wise")
derivative("cos", self=lambda grad, self: grad * -self.sin(), result="auto_element_wise")
derivative("tan", self=lambda grad, result: grad * (1 + result * result), result="auto_element_wise")
derivative("asin", self=lambda grad, self: grad * (1 - self * self).rsqrt(), result="auto_element_wise")
derivative("acos", self=lambda grad, self: grad * -(1 - self * self).rsqrt(), result="auto_element_wise")
derivative("atan", self=lambda grad, self: grad / (self * self + 1), result="auto_element_wise")
derivative("deg2rad", self=lambda grad: grad * (math.pi / 180), result="auto_element_wise")
derivative("rad2deg", self=lambda grad: grad * (180 / math.pi), result="auto_element_wise")

derivative("sinh", self=lambda grad, self: grad * self.cosh(), result="auto_element_wise")
derivative("cosh", self=lambda grad, self: grad * self.sinh(), result="auto_element_wise")
derivative("asinh", self=lambda grad, self: grad * (self * self + 1).rsqrt(), result="auto_element_wise")
derivative("acosh", self=lambda grad, self: grad * (self * self - 1).rsqrt(), result="auto_element_wise")
derivative("atanh", self=lambda grad, self: grad / (1 - self * self), result="auto_element_wise")

# --- sigmoid and tanh: the backward is a separate op, which reads memory once -----------------------------------------

derivative("tanh", self=lambda grad, result: _C._nn.tanh_backward(grad, result), result="auto_element_wise")

derivative("sigmoid", self=lambda grad, result: _C._nn.sigmoid_backward(grad, result), result="auto_element_wise")

# --- signs and steps --------------------------------------------------------------------------------------------------

derivative("neg", self=lambda grad: -grad, result="auto_linear")
derivative("abs", self=lambda grad, self: grad * self.sgn(), result="auto_element_wise")
derivative("frac", self=lambda grad: grad, result="auto_element_wise")
derivative("nan_to_num", self=lambda grad, self: grad * self.isfinite(), result="auto_element_wise")
derivative("frexp.Tensor", self=lambda grad, exponent: grad / exponent.exp2())

# The derivative is 0 almost everywhere.
derivative("sign", self=lambda grad: _zeros_like(grad), result="auto_element_wise")
derivative("angle", self=lambda grad: _zeros_like(grad), result="auto_element_wise")
derivative("sgn", self=lambda grad: _zeros_like(grad), result="auto_element_wise")
derivative("floor", self=lambda grad: _zeros_like(grad), result="auto_element_wise")
derivative("ceil", self=lambda grad: _zeros_like(grad), result="auto_element_wise")
derivative("round", self=lambda grad: _zeros_like(grad), result="auto_element_wise")
derivative("round.decimals", self=lambda grad: _zeros_like(grad), result="auto_element_wise", node_number=1)
derivative("trunc", self=lambda grad: _zeros_like(grad), result="auto_element_wise")

non_differentiable("logical_not", "bitwise_not", "signbit")

non_differentiable("conj_physical.out")
