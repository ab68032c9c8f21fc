"""Derivatives of ops that fill a tensor with one value.

The overwritten elements receive a gradient of zero.

Mirrors: tools/autograd/derivatives.yaml (fill, fill_, zero_)
Leaves out: complex numbers.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_zeros_like = _C._VariableFunctions.zeros_like
derivative("fill.Scalar", self=lambda grad: _zeros_like(grad), result="auto_element_wise")
derivative("fill.Tensor", self=lambda grad: _zeros_like(grad), value=lambda grad: grad.sum(), node_number=1)
derivative("fill_.Scalar", self=lambda grad: _zeros_like(grad), result="auto_element_wise", node_number=2)
derivative("fill_.Tensor", self=lambda grad: _zeros_like(grad), value=lambda grad: grad.sum(), node_number=3)
derivative("zero_", self=lambda grad: _zeros_like(grad), result="auto_element_wise")
