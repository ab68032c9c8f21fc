"""Derivatives of padding.

Mirrors: tools/autograd/derivatives.yaml (constant_pad_nd)
Leaves out: complex numbers.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_torch = _C._VariableFunctions
derivative(
    "constant_pad_nd", self=lambda grad, pad: _torch.constant_pad_nd(grad, [-n for n in pad])
)  # padding, whose gradient is cropped
