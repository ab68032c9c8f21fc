"""Derivatives of copies of a tensor with a part replaced.

Mirrors: tools/autograd/derivatives.yaml (slice_scatter, select_scatter, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_torch = _C._VariableFunctions

derivative(
    "slice_scatter",
    self=lambda grad, src_sizes, dim, start, end, step: grad.slice_scatter(
        grad.new_zeros(src_sizes), dim, start, end, step
    ),
    src=lambda grad, dim, start, end, step: _torch.slice(grad, dim, start, end, step),
    result="auto_linear",
)
derivative(
    "select_scatter",
    self=lambda grad, src_sizes, dim, index: grad.select_scatter(grad.new_zeros(src_sizes), dim, index),
    src=lambda grad, dim, index: grad.select(dim, index),
    result="auto_linear",
)
derivative(
    "diagonal_scatter",
    self=lambda grad, src_sizes, offset, dim1, dim2: grad.diagonal_scatter(
        grad.new_zeros(src_sizes), offset, dim1, dim2
    ),
    src=lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2),
    result="auto_linear",
)


def _laid_out(grad, sizes, strides):
    """Return the gradient with the strides of the tensor, so that as_strided addresses the same elements."""
    return grad.new_empty_strided(sizes, strides).copy_(grad)


derivative(
    "as_strided_scatter",
    self=lambda grad, self_sizes, self_strides, src_sizes, size, stride, storage_offset: _laid_out(
        grad, self_sizes, self_strides
    ).as_strided_scatter(grad.new_zeros(src_sizes), size, stride, storage_offset),
    src=lambda grad, self_sizes, self_strides, size, stride, storage_offset: _laid_out(
        grad, self_sizes, self_strides
    ).as_strided(size, stride, storage_offset),
    result="auto_linear",
)
derivative("fill_diagonal_", self=lambda grad, wrap: grad.clone().fill_diagonal_(0, wrap))
