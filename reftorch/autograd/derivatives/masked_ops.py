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
    value=lambda grad, mask: _torch.where(mask, grad, 0.0).sum(),
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
    """Return the gradient of source: the i-th true place of the mask took the i-th element of source. Places where the
    mask is false send 0, so that no shape depends on the mask's elements.
    """
    count = math.prod(source_sizes)
    if count == 0:
        return grad.new_zeros(source_sizes)
    mask = mask.expand(grad.shape).reshape(-1)
    sent = _torch.where(mask, grad.reshape(-1), 0.0)
    places = (mask.cumsum(0) - 1).clamp(min=0)
    return grad.new_zeros(count).scatter_add(0, places, sent).reshape(source_sizes)


derivative("masked_scatter", self=lambda grad, mask: grad.masked_fill(mask, 0), source=_masked_scatter_source)
