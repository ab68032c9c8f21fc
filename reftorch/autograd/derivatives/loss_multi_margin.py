"""Derivatives of the margin losses of classes.

Mirrors: tools/autograd/derivatives.yaml (multi_margin_loss, multilabel_margin_loss_forward)
Leaves out: second derivatives, which PyTorch has not.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_nn = _C._nn

derivative(
    "multi_margin_loss",
    self=lambda grad, self, target, p, margin, weight, reduction: _nn.multi_margin_loss_backward(
        grad, self, target, p, margin, weight, reduction
    ),
)

derivative(
    "multilabel_margin_loss_forward",
    self=lambda grad, self, target, reduction, is_target: _nn.multilabel_margin_loss_backward(
        grad, self, target, reduction, is_target
    ),
    output_differentiability=[True, False],
)
