"""Derivatives of the negative log likelihood of images.

Mirrors: tools/autograd/derivatives.yaml (nll_loss2d_forward, nll_loss2d_backward)
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_nn = _C._nn

derivative(
    "nll_loss2d_forward",
    self=lambda grad, self, target, weight, reduction, ignore_index, total_weight: _nn.nll_loss2d_backward(
        grad, self, target, weight, reduction, ignore_index, total_weight
    ),
)

derivative(
    "nll_loss2d_backward",
    grad_output=lambda grad, target, weight, reduction, ignore_index: _nn.nll_loss2d(
        grad, target, weight, reduction, ignore_index
    ),
    self=lambda grad: _C._VariableFunctions.zeros_like(grad),
    total_weight=lambda total_weight: _C._VariableFunctions.zeros_like(total_weight),
)  # the number of targets, a constant
