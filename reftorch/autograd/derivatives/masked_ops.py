"""Derivatives of reading and writing where a mask is true.

Mirrors: tools/autograd/derivatives.yaml (masked_fill, masked_select, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

import math

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_torch = _C._VariableFunctions

derivative("masked_fill.Scalar", self=lambda grad, mask: grad.masked_fill(mask, 0), result="auto_element_wise")
derivative(
    "masked_fill.Tensor",
    self=lambda grad, mask: grad.masked_fill(mask, 0),
    value=lambda grad, mask: grad.masked_select(mask).sum(),
    node_number=1,
)


def _masked_select_backward(grad, self_sizes, mask):
    zeros = grad.new_zeros(()).expand(self_sizes)
    both = zeros.masked_fill(mask, 0)  # zeros of the shape that self and mask broadcast to
    if both.dim() == 0:
        return both.reshape(1).index_put([mask.reshape(1)], grad).reshape(())
    return both.index_put([mask.expand(both.shape)], grad)


derivative("masked_select", self=_masked_select_backward)


def _masked_scatter_source(grad, mask, source_sizes):
    """Return the gradient of source. The result contains as many of its first elements as the mask has true ones."""
    used = grad.masked_select(mask)
    unused = grad.new_zeros((math.prod(source_sizes) - used.numel(),))
    return _torch.cat([used, unused]).reshape(source_sizes)


derivative("masked_scatter", self=lambda grad, mask: grad.masked_fill(mask, 0), source=_masked_scatter_source)
