"""Losses.

Mirrors: tools/autograd/derivatives.yaml (nll_loss_forward, mse_loss), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: every loss but these two; cross entropy is made of log_softmax and nll_loss.
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
)  # counts targets: a constant

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
