"""Activations of networks; tanh and sigmoid are in ``unary``.

Mirrors: tools/autograd/derivatives.yaml (relu, threshold, threshold_backward)
Leaves out: every activation but relu and threshold.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_fn = _C._VariableFunctions

# The output is positive where the input is, so the output is what is kept: an in-place relu has no input any more.
derivative("relu", self=lambda grad, result: _fn.threshold_backward(grad, result, 0))

derivative("threshold", self=lambda grad, self, threshold: _fn.threshold_backward(grad, self, threshold))

derivative(
    "threshold_backward",
    grad_output=lambda grad, self, threshold: _fn.threshold_backward(grad, self, threshold),
    self=lambda grad: _fn.zeros_like(grad),
)
