"""Derivatives of the nonlinear functions of networks.

An in-place activation overwrites its input. If the slope can be computed from the result, the in-place form has its own
formula, which saves the result. Otherwise a copy of the input is saved.

Mirrors: tools/autograd/derivatives.yaml (relu, threshold, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: glu.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_fn, _nn = _C._VariableFunctions, _C._nn

# --- piecewise linear: the slope of an element depends only on its piece, and second derivatives are zero -------------

# The output is positive where the input is. So the output is saved, because an in-place relu has overwritten its input.
derivative("relu", self=lambda grad, result: _fn.threshold_backward(grad, result, 0), result="auto_element_wise")

derivative(
    "threshold",
    self=lambda grad, self, threshold: _fn.threshold_backward(grad, self, threshold),
    result="auto_element_wise",
)
derivative(
    "threshold_backward",
    grad_output=lambda grad, self, threshold: _fn.threshold_backward(grad, self, threshold),
    self=lambda grad: _fn.zeros_like(grad),
    result="auto_element_wise",
)

derivative(
    "leaky_relu",
    self=lambda grad, self, negative_slope: _nn.leaky_relu_backward(grad, self, negative_slope, False),
    result="auto_element_wise",
)
derivative(
    "leaky_relu_",
    self=lambda grad, result, negative_slope: _nn.leaky_relu_backward(grad, result, negative_slope, True),
    node_number=1,
)
derivative(
    "leaky_relu_backward",
    grad_output=lambda grad, self, negative_slope: _nn.leaky_relu_backward(grad, self, negative_slope, False),
    self=lambda grad: _fn.zeros_like(grad),
)

# The result is at a bound where the input is at or beyond the bound: there the slope is 0.
derivative(
    "hardtanh",
    self=lambda grad, result, min_val, max_val: _nn.hardtanh_backward(grad, result, min_val, max_val),
    result="auto_element_wise",
)
derivative(
    "hardtanh_backward",
    grad_output=lambda grad, self, min_val, max_val: _nn.hardtanh_backward(grad, self, min_val, max_val),
    self=lambda grad: _fn.zeros_like(grad),
)

derivative("hardsigmoid", self=lambda grad, self: _nn.hardsigmoid_backward(grad, self), result="auto_element_wise")
derivative(
    "hardsigmoid_backward",
    grad_output=lambda grad, self: _nn.hardsigmoid_backward(grad, self),
    self=lambda grad: _fn.zeros_like(grad),
)

derivative(
    "hardshrink", self=lambda grad, self, lambd: _nn.hardshrink_backward(grad, self, lambd), result="auto_element_wise"
)
derivative(
    "hardshrink_backward",
    grad_out=lambda grad, self, lambd: _nn.hardshrink_backward(grad, self, lambd),
    self=lambda grad: _fn.zeros_like(grad),
)

derivative(
    "softshrink", self=lambda grad, self, lambd: _nn.softshrink_backward(grad, self, lambd), result="auto_element_wise"
)
derivative(
    "softshrink_backward",
    grad_output=lambda grad, self, lambd: _nn.softshrink_backward(grad, self, lambd),
    self=lambda grad: _fn.zeros_like(grad),
)

# The middle piece of hardswish is a parabola.
derivative("hardswish", self=lambda grad, self: _nn.hardswish_backward(grad, self), result="auto_element_wise")
derivative(
    "hardswish_backward",
    grad_output=lambda grad, self: _nn.hardswish_backward(grad, self),
    self=lambda grad, grad_output, self: _fn.where((self > -3) & (self < 3), grad * grad_output / 3, 0.0),
)

# --- elu and its relatives --------------------------------------------------------------------------------------------

derivative(
    "elu",
    self=lambda grad, self, alpha, scale, input_scale: _nn.elu_backward(grad, alpha, scale, input_scale, False, self),
    result="auto_element_wise",
)
derivative(
    "elu_",
    self=lambda grad, result, alpha, scale, input_scale: _nn.elu_backward(
        grad, alpha, scale, input_scale, True, result
    ),
    node_number=1,
)
derivative(
    "celu",
    self=lambda grad, self, alpha: _nn.elu_backward(grad, alpha, 1, 1 / alpha, False, self),
    result="auto_element_wise",
)
derivative(
    "celu_", self=lambda grad, result, alpha: _nn.elu_backward(grad, alpha, 1, 1 / alpha, True, result), node_number=1
)


def _elu_curvature(
    grad: Any, grad_output: Any, alpha: Any, scale: Any, input_scale: Any, is_result: bool, self_or_result: Any
) -> Any:
    # Below zero the gradient is grad_output * input_scale * (y + alpha scale), and the derivative of y has this form
    # again.
    by_result = grad * grad_output * input_scale
    if not is_result:
        by_result = _nn.elu_backward(by_result, alpha, scale, input_scale, False, self_or_result)
    return _fn.where(self_or_result < 0, by_result, 0.0)


derivative(
    "elu_backward",
    grad_output=lambda grad, alpha, scale, input_scale, is_result, self_or_result: _nn.elu_backward(
        grad, alpha, scale, input_scale, is_result, self_or_result
    ),
    self_or_result=lambda grad, grad_output, alpha, scale, input_scale, is_result, self_or_result: _elu_curvature(
        grad, grad_output, alpha, scale, input_scale, is_result, self_or_result
    ),
)

# --- gelu: x Phi(x) ---------------------------------------------------------------------------------------------------

_BETA, _KAPPA = 0.7978845608028654, 0.044715  # sqrt(2 / pi), and the cubic term of the approximation


def _gelu_second(x: Any, approximate: str) -> Any:
    if approximate == "none":  # phi(x) (2 - x^2)
        return (x * x * -0.5).exp() * (2 - x * x) * (_BETA / 2)
    t = (_BETA * (x + _KAPPA * x * x * x)).tanh()
    slope, curvature = _BETA * (1 + 3 * _KAPPA * x * x), 6 * _BETA * _KAPPA * x
    return (1 - t * t) * (slope + 0.5 * x * (curvature - 2 * t * slope * slope))


derivative(
    "gelu",
    self=lambda grad, self, approximate: _nn.gelu_backward(grad, self, approximate=approximate),
    result="auto_element_wise",
)
derivative(
    "gelu_backward",
    grad_output=lambda grad, self, approximate: _nn.gelu_backward(grad, self, approximate=approximate),
    self=lambda grad, grad_output, self, approximate: grad * grad_output * _gelu_second(self, approximate),
)

# --- silu and mish: x s(x), x tanh(softplus(x)) -----------------------------------------------------------------------


def _silu_second(x: Any) -> Any:
    s = x.sigmoid()
    return s * (1 - s) * (2 + x * (1 - 2 * s))


derivative("silu", self=lambda grad, self: _nn.silu_backward(grad, self), result="auto_element_wise")
derivative(
    "silu_backward",
    grad_output=lambda grad, self: _nn.silu_backward(grad, self),
    self=lambda grad, grad_output, self: grad * grad_output * _silu_second(self),
)


def _mish_second(x: Any) -> Any:
    s, t = x.sigmoid(), _nn.softplus(x).tanh()
    return s * (1 - t * t) * (2 + x * (1 - s - 2 * t * s))


derivative("mish", self=lambda grad, self: _nn.mish_backward(grad, self), result="auto_element_wise")
derivative(
    "mish_backward",
    grad_output=lambda grad, self: _nn.mish_backward(grad, self),
    self=lambda grad, grad_output, self: grad * grad_output * _mish_second(self),
)

# --- softplus and log_sigmoid: their slopes are sigmoids --------------------------------------------------------------


def _sigmoid_slope(x: Any) -> Any:
    s = x.sigmoid()
    return s * (1 - s)


derivative(
    "softplus",
    self=lambda grad, self, beta, threshold: _nn.softplus_backward(grad, self, beta, threshold),
    result="auto_element_wise",
)
derivative(
    "softplus_backward",
    grad_output=lambda grad, self, beta, threshold: _nn.softplus_backward(grad, self, beta, threshold),
    self=lambda grad, grad_output, self, beta, threshold: _fn.where(
        self * beta > threshold, 0.0, grad * grad_output * beta * _sigmoid_slope(self * beta)
    ),
)

derivative(
    "log_sigmoid_forward",
    output_differentiability=[True, False],
    self=lambda grad, self, buffer: _nn.log_sigmoid_backward(grad, self, buffer),
)
derivative(
    "log_sigmoid_backward",
    grad_output=lambda grad, self, buffer: _nn.log_sigmoid_backward(grad, self, buffer),
    self=lambda grad, grad_output, self: -grad * grad_output * _sigmoid_slope(self),
)  # the buffer depends on self, and the formula of self includes that dependence

# --- slopes that are learned, or drawn --------------------------------------------------------------------------------


@derivative("_prelu_kernel", inputs=["self", "weight"])
def prelu_kernel(grad: Any, self: Any, weight: Any) -> Any:
    return _nn._prelu_kernel_backward(grad, self, weight)


@derivative("_prelu_kernel_backward", inputs=["grad_output", "self", "weight"])
def prelu_kernel_backward(grads: Any, grad_output: Any, self: Any, weight: Any) -> Any:
    grad_self, grad_weight = grads
    positive = self >= 0
    return (
        _fn.where(positive, grad_self, grad_self * weight + grad_weight * self),
        _fn.where(positive, 0.0, grad_output * grad_weight),
        _fn.where(positive, 0.0, grad_output * grad_self),
    )


derivative(
    "rrelu_with_noise",
    self=lambda grad, self, noise, lower, upper, training: _nn.rrelu_with_noise_backward(
        grad, self, noise, lower, upper, training, False
    ),
    result="auto_element_wise",
)
derivative(
    "rrelu_with_noise_",
    self=lambda grad, result, noise, lower, upper, training: _nn.rrelu_with_noise_backward(
        grad, result, noise, lower, upper, training, True
    ),
    node_number=1,
)
derivative(
    "rrelu_with_noise_backward",
    grad_output=lambda grad, self, noise, lower, upper, training: _nn.rrelu_with_noise_backward(
        grad, self, noise, lower, upper, training, False
    ),
    self=lambda grad: _fn.zeros_like(grad),
)
