"""Derivatives of the largest elements of windows: elements at indices, which the forward pass found.

Mirrors: tools/autograd/derivatives.yaml (max_pool2d_with_indices, adaptive_max_pool2d, fractional_max_pool2d,
max_unpool2d, ...), torch/csrc/autograd/FunctionsManual.cpp (max_pool_double_backward)
Leaves out: complex numbers.
"""

from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_nn, _torch = _C._nn, _C._VariableFunctions


def _elements_at(dims: int) -> Callable[..., Any]:
    """Make the formula of a map that writes elements to places: the gradient is read from these places."""

    def formula(grad: Any, indices: Any) -> Any:
        if indices.numel() == 0:
            return grad.new_zeros(indices.shape)
        planes = grad.reshape([*grad.shape[:-dims], -1])
        return planes.gather(-1, indices.reshape([*indices.shape[:-dims], -1])).reshape(indices.shape)

    return formula


for _dims in (2, 3):
    _at = _elements_at(_dims)
    derivative(f"max_unpool{_dims}d", self=_at)
    for _op in (
        f"max_pool{_dims}d_with_indices_backward",
        f"adaptive_max_pool{_dims}d_backward",
        f"fractional_max_pool{_dims}d_backward",
    ):
        # The gradient with respect to self is zero, because the op reads only the shape of self.
        derivative(_op, grad_output=_at, self=lambda grad, self: _torch.zeros_like(self))

derivative(
    "max_pool2d_with_indices",
    self=lambda grad, self, kernel_size, stride, padding, dilation, ceil_mode, result1: (
        _nn.max_pool2d_with_indices_backward(grad, self, kernel_size, stride, padding, dilation, ceil_mode, result1)
    ),
    output_differentiability=[True, False],
)
derivative(
    "max_pool3d_with_indices",
    self=lambda grad, self, kernel_size, stride, padding, dilation, ceil_mode, result1: (
        _nn.max_pool3d_with_indices_backward(grad, self, kernel_size, stride, padding, dilation, ceil_mode, result1)
    ),
    output_differentiability=[True, False],
)
derivative(
    "adaptive_max_pool2d",
    self=lambda grad, self, result1: _nn.adaptive_max_pool2d_backward(grad, self, result1),
    output_differentiability=[True, False],
)
derivative(
    "adaptive_max_pool3d",
    self=lambda grad, self, result1: _nn.adaptive_max_pool3d_backward(grad, self, result1),
    output_differentiability=[True, False],
)
derivative(
    "fractional_max_pool2d",
    self=lambda grad, self, kernel_size, output_size, result1: _nn.fractional_max_pool2d_backward(
        grad, self, kernel_size, output_size, result1
    ),
    output_differentiability=[True, False],
)
derivative(
    "fractional_max_pool3d",
    self=lambda grad, self, kernel_size, output_size, result1: _nn.fractional_max_pool3d_backward(
        grad, self, kernel_size, output_size, result1
    ),
    output_differentiability=[True, False],
)
