"""Derivatives of windows along a dimension.

Mirrors: tools/autograd/derivatives.yaml (unfold, unfold_backward)
Leaves out: complex numbers.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_torch = _C._VariableFunctions

derivative(
    "unfold",
    self=lambda grad, self_sizes, dimension, size, step: _torch.unfold_backward(
        grad, self_sizes, dimension, size, step
    ),
    result="auto_linear",
)
derivative("unfold_backward", grad_in=lambda grad, dim, size, step: grad.unfold(dim, size, step), result="auto_linear")
