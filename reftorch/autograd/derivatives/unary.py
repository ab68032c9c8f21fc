"""Functions of one tensor, element by element.

Mirrors: tools/autograd/derivatives.yaml (abs, exp, log, tanh and their kin)
Leaves out: complex conjugates.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable

_zeros_like = _C._VariableFunctions.zeros_like

# --- powers and logarithms -------------------------------------------------------------------------------------------

derivative("exp", self=lambda grad, result: grad * result)
derivative("log", self=lambda grad, self: grad / self)
derivative("log1p", self=lambda grad, self: grad / (self + 1))
derivative("sqrt", self=lambda grad, result: grad / (2 * result))
derivative("rsqrt", self=lambda grad, result: -0.5 * grad * result * result * result)
derivative("reciprocal", self=lambda grad, result: -grad * result * result)

# --- waves -----------------------------------------------------------------------------------------------------------

derivative("sin", self=lambda grad, self: grad * self.cos())
derivative("cos", self=lambda grad, self: grad * -self.sin())

# --- squashing: the backward is an op of its own, one pass over memory ------------------------------------------------

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

# Flat almost everywhere.
derivative("sign", self=lambda grad: _zeros_like(grad))
derivative("floor", self=lambda grad: _zeros_like(grad))
derivative("ceil", self=lambda grad: _zeros_like(grad))
derivative("round", self=lambda grad: _zeros_like(grad))
derivative("trunc", self=lambda grad: _zeros_like(grad))

non_differentiable("logical_not", "bitwise_not")
