"""The derivative of connectionist temporal classification.

Mirrors: tools/autograd/derivatives.yaml (_ctc_loss)
Leaves out: second derivatives, as PyTorch does: the kernel returns the gradient behind log_softmax, which is not the
derivative of the op itself. See Note [CTC].
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_nn = _C._nn

derivative(
    "_ctc_loss",
    log_probs=lambda grad, log_probs, targets, input_lengths, target_lengths, blank, zero_infinity, result, result1: (
        _nn._ctc_loss_backward(
            grad, log_probs, targets, input_lengths, target_lengths, result, result1, blank, zero_infinity
        )
    ),
    output_differentiability=[True, False],
)
