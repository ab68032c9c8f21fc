"""Derivatives of the losses that measure a distance: mse, smooth_l1, huber.

Mirrors: tools/autograd/derivatives.yaml (mse_loss, mse_loss_backward, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: the other losses, which consist of other ops.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_nn = _C._nn
_MEAN = 1

# --- squared error ----------------------------------------------------------------------------------------------------

derivative(
    "mse_loss",
    self=lambda grad, self, target, reduction: _nn.mse_loss_backward(grad, self, target, reduction),
    target=lambda grad, self, target, reduction: _nn.mse_loss_backward(grad, target, self, reduction),
)


# grad_input = 2 (self - target) grad_output / n
def _twice(grad: Any, reduction: int) -> Any:
    return grad * (2 / max(grad.numel(), 1) if reduction == _MEAN else 2)


derivative(
    "mse_loss_backward",
    grad_output=lambda grad, self, target, reduction: _twice(grad, reduction) * (self - target),
    self=lambda grad, grad_output, reduction: _twice(grad, reduction) * grad_output,
    target=lambda grad, grad_output, reduction: -_twice(grad, reduction) * grad_output,
)

# --- quadratic for small errors, linear for large ones ----------------------------------------------------------------

derivative(
    "smooth_l1_loss",
    self=lambda grad, self, target, reduction, beta: _nn.smooth_l1_loss_backward(grad, self, target, reduction, beta),
    target=lambda grad, self, target, reduction, beta: _nn.smooth_l1_loss_backward(grad, target, self, reduction, beta),
)
derivative(
    "huber_loss",
    self=lambda grad, self, target, reduction, delta: _nn.huber_loss_backward(grad, self, target, reduction, delta),
    target=lambda grad, self, target, reduction, delta: _nn.huber_loss_backward(grad, target, self, reduction, delta),
)


def _curvature(grad: Any, grad_output: Any, self: Any, target: Any, reduction: int, width: float) -> Any:
    """Return the second derivative: grad_output where the error is small; for the mean, divided by the number of
    errors.
    """
    inside = _C._VariableFunctions.where((self - target).abs() < width, grad * grad_output, 0.0)
    return inside / max(grad.numel(), 1) if reduction == _MEAN else inside


derivative(
    "smooth_l1_loss_backward",
    grad_output=lambda grad, self, target, reduction, beta: _nn.smooth_l1_loss_backward(
        grad, self, target, reduction, beta
    ),
    self=lambda grad, grad_output, self, target, reduction, beta: _curvature(
        grad / beta, grad_output, self, target, reduction, beta
    ),
    target=lambda grad, grad_output, self, target, reduction, beta: (
        -_curvature(grad / beta, grad_output, self, target, reduction, beta)
    ),
)
derivative(
    "huber_loss_backward",
    grad_output=lambda grad, self, target, reduction, delta: _nn.huber_loss_backward(
        grad, self, target, reduction, delta
    ),
    self=lambda grad, grad_output, self, target, reduction, delta: _curvature(
        grad, grad_output, self, target, reduction, delta
    ),
    target=lambda grad, grad_output, self, target, reduction, delta: (
        -_curvature(grad, grad_output, self, target, reduction, delta)
    ),
)
