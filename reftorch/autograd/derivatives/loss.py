"""Derivatives of the losses of numbers: mse, smooth_l1, huber, binary cross entropy, soft margin.

Mirrors: tools/autograd/derivatives.yaml (mse_loss, mse_loss_backward, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: the other losses, which consist of other ops.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_nn = _C._nn
_NONE, _MEAN = 0, 1  # at::Reduction

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


def _huber_of_grad_output(grad: Any, grad_output: Any, self: Any, target: Any, reduction: int, delta: float) -> Any:
    """Return the slopes times grad. For a mean and a sum, grad_output is one number, and so is its gradient: their sum.

    A reduction that does not exist counts as a sum here, as in PyTorch, where the engine then refuses the shape.
    """
    if reduction == _NONE:
        return _nn.huber_loss_backward(grad, self, target, reduction, delta)
    one = _C._VariableFunctions.ones_like(grad_output)
    return (_nn.huber_loss_backward(one, self, target, reduction, delta) * grad).sum()


derivative(
    "huber_loss_backward",
    grad_output=_huber_of_grad_output,
    self=lambda grad, grad_output, self, target, reduction, delta: _curvature(
        grad, grad_output, self, target, reduction, delta
    ),
    target=lambda grad, grad_output, self, target, reduction, delta: (
        -_curvature(grad, grad_output, self, target, reduction, delta)
    ),
)

# --- cross entropy of two classes -------------------------------------------------------------------------------------


def _scaled(grad: Any, like: Any, weight: Any, reduction: int) -> Any:
    """Return the gradient of the loss of each element before its weight; ``like`` has the shape of the elements."""
    grad = grad if weight is None else grad * weight
    return grad / max(like.numel(), 1) if reduction == _MEAN else grad


derivative(
    "binary_cross_entropy",
    self=lambda grad, self, target, weight, reduction: _nn.binary_cross_entropy_backward(
        grad, self, target, weight, reduction
    ),
    target=lambda grad, self, weight, reduction: (
        _scaled(grad, self, weight, reduction) * ((-self).log1p() - self.log())
    ),
)

_EPSILON = 1e-12  # keeps the denominators x (1 - x) from 0

derivative(
    "binary_cross_entropy_backward",
    grad_output=lambda grad, self, target, weight, reduction: _nn.binary_cross_entropy_backward(
        grad, self, target, weight, reduction
    ),
    self=lambda grad, grad_output, self, target, weight, reduction: (
        _scaled(grad * grad_output, self, weight, reduction)
        * (self * self - 2 * self * target + target)
        / ((self + _EPSILON).square() * (1 - self + _EPSILON).square())
    ),
    target=lambda grad, grad_output, self, weight, reduction: (
        -_scaled(grad * grad_output, self, weight, reduction) / ((1 - self) * self).clamp(min=_EPSILON)
    ),
)


def _logits(grad: Any, self: Any, target: Any, weight: Any, pos_weight: Any, reduction: int) -> Any:
    if pos_weight is None:
        slope = self.sigmoid() - target
    else:
        positive = pos_weight * target
        slope = (positive + 1 - target) * self.sigmoid() - positive
    return slope * _scaled(grad, self, weight, reduction)


def _logits_target(grad: Any, self: Any, weight: Any, pos_weight: Any, reduction: int) -> Any:
    if pos_weight is None:
        slope = -self
    else:
        slope = _nn.log_sigmoid(-self) - pos_weight * _nn.log_sigmoid(self)
    return slope * _scaled(grad, self, weight, reduction)


derivative(
    "binary_cross_entropy_with_logits",
    self=lambda grad, self, target, weight, pos_weight, reduction: _logits(
        grad, self, target, weight, pos_weight, reduction
    ),
    target=lambda grad, self, weight, pos_weight, reduction: _logits_target(grad, self, weight, pos_weight, reduction),
)

# --- soft margin: log(1 + z) with z = exp(-target x) ------------------------------------------------------------------


def _soft_margin_slope(grad: Any, grad_output: Any, self: Any, target: Any, reduction: int) -> Any:
    if reduction == 0:
        return _nn.soft_margin_loss_backward(grad, self, target, reduction)
    slope = _nn.soft_margin_loss_backward(_C._VariableFunctions.ones_like(grad_output), self, target, reduction)
    return (slope * grad).sum()


def _soft_margin_curvature(grad: Any, self: Any, target: Any, reduction: int) -> Any:
    z = (self * -target).exp()
    curvature = grad * (target * target) * z / ((z + 1) * (z + 1))
    return curvature / self.numel() if reduction == _MEAN else curvature


derivative(
    "soft_margin_loss",
    self=lambda grad, self, target, reduction: _nn.soft_margin_loss_backward(grad, self, target, reduction),
)
derivative(
    "soft_margin_loss_backward",
    grad_output=lambda grad, grad_output, self, target, reduction: _soft_margin_slope(
        grad, grad_output, self, target, reduction
    ),
    self=lambda grad, grad_output, self, target, reduction: _soft_margin_curvature(
        grad * grad_output, self, target, reduction
    ),
)
