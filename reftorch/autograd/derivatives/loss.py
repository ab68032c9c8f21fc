"""Loss functions.

Mirrors: tools/autograd/derivatives.yaml (nll_loss_forward, mse_loss, smooth_l1_loss, huber_loss),
    torch/csrc/autograd/FunctionsManual.cpp
Leaves out: the other losses, which consist of other ops; cross entropy consists of log_softmax and nll_loss.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_nn = _C._nn
_MEAN = 1

# --- negative log likelihood: linear in its input ---------------------------------------------------------------------

derivative(
    "nll_loss_forward",
    self=lambda grad, self, target, weight, reduction, ignore_index, total_weight: _nn.nll_loss_backward(
        grad, self, target, weight, reduction, ignore_index, total_weight
    ),
)

derivative(
    "nll_loss_backward",
    grad_output=lambda grad, target, weight, reduction, ignore_index: _nn.nll_loss(
        grad, target, weight, reduction, ignore_index
    ),
    self=lambda grad: _C._VariableFunctions.zeros_like(grad),
    total_weight=lambda total_weight: _C._VariableFunctions.zeros_like(total_weight),
)  # the number of targets, a constant

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
