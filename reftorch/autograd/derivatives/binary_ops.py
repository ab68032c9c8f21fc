"""Derivatives of arithmetic of two tensors, or of a tensor and a number.

Mirrors: tools/autograd/derivatives.yaml (add, sub, rsub, mul, ...)
Leaves out: complex numbers.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_fn = _C._VariableFunctions

_where = _C._VariableFunctions.where

# --- linear in both ---------------------------------------------------------------------------------------------------

derivative(
    "add.Tensor",
    self=lambda grad: grad,
    other=lambda grad, alpha: grad if alpha == 1 else grad * alpha,
    result="auto_linear",
)

derivative(
    "sub.Tensor",
    self=lambda grad: grad,
    other=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha,
    result="auto_linear",
)

# C++ code calls the Scalar overloads.
derivative("add.Scalar", self=lambda grad: grad, result="auto_element_wise", node_number=1)
derivative("sub.Scalar", self=lambda grad: grad, result="auto_element_wise", node_number=1)

derivative(
    "rsub.Tensor",
    self=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha,
    other=lambda grad: grad,
    result="auto_linear",
)
derivative(
    "rsub.Scalar",
    self=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha,
    result="auto_element_wise",
    node_number=1,
)

# --- products and quotients -------------------------------------------------------------------------------------------

derivative(
    "mul.Tensor",
    self=lambda grad, other: grad * other,
    other=lambda grad, self: grad * self,
    result="auto_element_wise",
)

derivative("mul.Scalar", self=lambda grad, other: grad * other, result="auto_element_wise", node_number=1)
derivative("div.Scalar", self=lambda grad, other: grad / other, result="auto_element_wise", node_number=1)

# d(a/b) = da/b - (a/b)/b db
derivative(
    "div.Tensor",
    self=lambda grad, other: grad / other,
    other=lambda grad, self, other: -grad * ((self / other) / other),
    result="auto_element_wise",
)

# The derivative of a rounded quotient is 0.
derivative(
    "div.Tensor_mode",
    self=lambda grad, other, rounding_mode: grad / other if rounding_mode is None else _fn.zeros_like(grad),
    other=lambda grad, self, other, rounding_mode: (
        -grad * ((self / other) / other) if rounding_mode is None else _fn.zeros_like(grad)
    ),
    result="auto_element_wise",
    node_number=2,
)

# a = b floor(a/b) + remainder
derivative(
    "remainder.Tensor",
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * self.div(other, rounding_mode="floor"),
    result="auto_element_wise",
    node_number=1,
)
derivative("remainder.Scalar", self=lambda grad: grad, result="auto_element_wise")
derivative(
    "remainder.Scalar_Tensor",
    other=lambda grad, self, other: -grad * _fn.div(self, other, rounding_mode="floor"),
    result="auto_element_wise",
)

derivative(
    "fmod.Tensor",
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * self.div(other, rounding_mode="trunc"),
    result="auto_element_wise",
    node_number=1,
)
derivative("fmod.Scalar", self=lambda grad: grad, result="auto_element_wise")

# --- the larger and the smaller ---------------------------------------------------------------------------------------

# Two equal elements receive half of the gradient each.
derivative(
    "maximum",
    self=lambda grad, self, other: _where(self == other, grad / 2, _where(self < other, 0.0, grad)),
    other=lambda grad, self, other: _where(self == other, grad / 2, _where(other < self, 0.0, grad)),
    result="auto_element_wise",
)

derivative(
    "minimum",
    self=lambda grad, self, other: _where(self == other, grad / 2, _where(self > other, 0.0, grad)),
    other=lambda grad, self, other: _where(self == other, grad / 2, _where(other > self, 0.0, grad)),
    result="auto_element_wise",
)

# --- sigmoid and tanh: the backward is a separate op, which reads memory once -----------------------------------------

derivative(
    "tanh_backward",
    grad_output=lambda grad, output: _C._nn.tanh_backward(grad, output),
    output=lambda grad, grad_output, output: -2 * grad * grad_output * output,
    result="auto_element_wise",
)
derivative(
    "sigmoid_backward",
    grad_output=lambda grad, output: _C._nn.sigmoid_backward(grad, output),
    output=lambda grad, grad_output, output: grad * grad_output * (1 - 2 * output),
    result="auto_element_wise",
)
