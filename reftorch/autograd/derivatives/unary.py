"""Functions of one tensor, element by element.

Mirrors: tools/autograd/derivatives.yaml (abs, exp, log, tanh and their relatives)
Leaves out: complex conjugates.
"""

import math

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable

_fn = _C._VariableFunctions
_zeros_like = _fn.zeros_like

# --- powers and logarithms -------------------------------------------------------------------------------------------

derivative("exp", self=lambda grad, result: grad * result)
derivative("expm1", self=lambda grad, result: grad * (result + 1))
derivative("exp2", self=lambda grad, result: grad * result * math.log(2))
derivative("log", self=lambda grad, self: grad / self)
derivative("log2", self=lambda grad, self: grad / (self * math.log(2)))
derivative("log10", self=lambda grad, self: grad / (self * math.log(10)))
derivative("log1p", self=lambda grad, self: grad / (self + 1))
derivative("sqrt", self=lambda grad, result: grad / (2 * result))
derivative("rsqrt", self=lambda grad, result: -0.5 * grad * result * result * result)
derivative("reciprocal", self=lambda grad, result: -grad * result * result)

# --- trigonometric and hyperbolic functions --------------------------------------------------------------------------

derivative("sin", self=lambda grad, self: grad * self.cos())
derivative("cos", self=lambda grad, self: grad * -self.sin())
derivative("tan", self=lambda grad, result: grad * (1 + result * result))
derivative("asin", self=lambda grad, self: grad * (1 - self * self).rsqrt())
derivative("acos", self=lambda grad, self: grad * -(1 - self * self).rsqrt())
derivative("atan", self=lambda grad, self: grad / (self * self + 1))
derivative("deg2rad", self=lambda grad: grad * (math.pi / 180))
derivative("rad2deg", self=lambda grad: grad * (180 / math.pi))

derivative("sinh", self=lambda grad, self: grad * self.cosh())
derivative("cosh", self=lambda grad, self: grad * self.sinh())
derivative("asinh", self=lambda grad, self: grad * (self * self + 1).rsqrt())
derivative("acosh", self=lambda grad, self: grad * (self * self - 1).rsqrt())
derivative("atanh", self=lambda grad, self: grad / (1 - self * self))

# --- sigmoid and tanh: the backward is a separate op, which reads memory once ----------------------------------------

derivative("tanh", self=lambda grad, result: _C._nn.tanh_backward(grad, result))
derivative(
    "tanh_backward",
    grad_output=lambda grad, output: _C._nn.tanh_backward(grad, output),
    output=lambda grad, grad_output, output: -2 * grad * grad_output * output,
)

derivative("sigmoid", self=lambda grad, result: _C._nn.sigmoid_backward(grad, result))
derivative(
    "sigmoid_backward",
    grad_output=lambda grad, output: _C._nn.sigmoid_backward(grad, output),
    output=lambda grad, grad_output, output: grad * grad_output * (1 - 2 * output),
)

# --- signs and steps -------------------------------------------------------------------------------------------------

derivative("neg", self=lambda grad: -grad)
derivative("abs", self=lambda grad, self: grad * self.sign())
derivative("frac", self=lambda grad: grad)
derivative("nan_to_num", self=lambda grad, self: grad * self.isfinite())
derivative("frexp.Tensor", self=lambda grad, exponent: grad / exponent.exp2())

# The derivative is 0 almost everywhere.
derivative("sign", self=lambda grad: _zeros_like(grad))
derivative("angle", self=lambda grad: _zeros_like(grad))
derivative("sgn", self=lambda grad: _zeros_like(grad))
derivative("floor", self=lambda grad: _zeros_like(grad))
derivative("ceil", self=lambda grad: _zeros_like(grad))
derivative("round", self=lambda grad: _zeros_like(grad))
derivative("round.decimals", self=lambda grad: _zeros_like(grad))
derivative("trunc", self=lambda grad: _zeros_like(grad))

non_differentiable("logical_not", "bitwise_not", "signbit", "isposinf", "isneginf", "isreal", "conj_physical.out")
