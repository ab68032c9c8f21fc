"""Derivatives of the means of windows. Each op is linear, so the gradient of its backward is the op itself.

Mirrors: tools/autograd/derivatives.yaml (avg_pool2d, _adaptive_avg_pool2d, ...)
Leaves out: complex numbers.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_nn, _torch = _C._nn, _C._VariableFunctions

derivative(
    "avg_pool2d",
    self=lambda grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: (
        _nn.avg_pool2d_backward(
            grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )
    ),
)
derivative(
    "avg_pool3d",
    self=lambda grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: (
        _nn.avg_pool3d_backward(
            grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )
    ),
)
# The gradient of a backward with respect to self is zero, because the op reads only the shape of self.
derivative(
    "avg_pool2d_backward",
    grad_output=lambda grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: (
        _nn.avg_pool2d(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    ),
    self=lambda grad, self: _torch.zeros_like(self),
)
derivative(
    "avg_pool3d_backward",
    grad_output=lambda grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: (
        _nn.avg_pool3d(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    ),
    self=lambda grad, self: _torch.zeros_like(self),
)
derivative("_adaptive_avg_pool2d", self=lambda grad, self: _nn._adaptive_avg_pool2d_backward(grad, self))
derivative("_adaptive_avg_pool3d", self=lambda grad, self: _nn._adaptive_avg_pool3d_backward(grad, self))
derivative(
    "_adaptive_avg_pool2d_backward",
    grad_output=lambda grad, grad_output_sizes: _torch._adaptive_avg_pool2d(grad, grad_output_sizes[-2:]),
    self=lambda grad, self: _torch.zeros_like(self),
)
derivative(
    "_adaptive_avg_pool3d_backward",
    grad_output=lambda grad, grad_output_sizes: _torch._adaptive_avg_pool3d(grad, grad_output_sizes[-3:]),
    self=lambda grad, self: _torch.zeros_like(self),
)
