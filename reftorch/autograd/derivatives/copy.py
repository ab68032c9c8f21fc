"""Derivatives of copies into an existing tensor.

The overwritten elements receive a gradient of zero.

Mirrors: tools/autograd/derivatives.yaml (copy_)
Leaves out: complex numbers.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_zeros_like = _C._VariableFunctions.zeros_like
derivative(
    "copy_",
    self=lambda grad: _zeros_like(grad),
    src=lambda grad, src_device: grad.to(src_device),
    result="auto_element_wise",
)
