"""Copies and fills: the overwritten elements receive a gradient of zero.

Mirrors: tools/autograd/derivatives.yaml (clone, copy_, fill_, zero_, _to_copy)
Leaves out: layouts other than strided.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable

_zeros_like = _C._VariableFunctions.zeros_like

derivative("clone", self=lambda grad: grad)
# The gradient is copied to the device of the source. The engine casts the gradient to the dtype of the source.
derivative("_to_copy", self=lambda grad, self_device: grad.to(self_device))
derivative("copy_", self=lambda grad: _zeros_like(grad), src=lambda grad, src_device: grad.to(src_device))
derivative("fill.Scalar", self=lambda grad: _zeros_like(grad))
derivative("fill.Tensor", self=lambda grad: _zeros_like(grad), value=lambda grad: grad.sum())
derivative("fill_.Scalar", self=lambda grad: _zeros_like(grad))
derivative("fill_.Tensor", self=lambda grad: _zeros_like(grad), value=lambda grad: grad.sum())
derivative("zero_", self=lambda grad: _zeros_like(grad))

non_differentiable("resize_", "resize_as_")  # these ops raise for a tensor that requires a gradient
