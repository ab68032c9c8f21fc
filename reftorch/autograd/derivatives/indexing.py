"""Reading and writing at positions that indices or masks select: each is the derivative of the other.

Mirrors: tools/autograd/derivatives.yaml (index, index_put, gather, scatter, masked_fill, ...)
Leaves out: sparse gradients.
"""

import math

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable

_torch = _C._VariableFunctions

# --- x[indices] ------------------------------------------------------------------------------------------------------

derivative(
    "index.Tensor", self=lambda grad, self_sizes, indices: grad.new_zeros(self_sizes).index_put(indices, grad, True)
)
derivative(
    "index_put",
    self=lambda grad, indices, values_sizes, accumulate: (
        grad if accumulate else grad.index_put(indices, grad.new_zeros(values_sizes))
    ),
    values=lambda grad, indices: _torch.index(grad, indices),
)


def _no_scatter():
    raise RuntimeError("derivative for aten::scatter is not implemented. Hint: scatter_reduce has one.")


# --- a copy with a part replaced -------------------------------------------------------------------------------------

derivative(
    "slice_scatter",
    self=lambda grad, src_sizes, dim, start, end, step: grad.slice_scatter(
        grad.new_zeros(src_sizes), dim, start, end, step
    ),
    src=lambda grad, dim, start, end, step: _torch.slice(grad, dim, start, end, step),
)
derivative(
    "select_scatter",
    self=lambda grad, src_sizes, dim, index: grad.select_scatter(grad.new_zeros(src_sizes), dim, index),
    src=lambda grad, dim, index: grad.select(dim, index),
)
derivative(
    "diagonal_scatter",
    self=lambda grad, src_sizes, offset, dim1, dim2: grad.diagonal_scatter(
        grad.new_zeros(src_sizes), offset, dim1, dim2
    ),
    src=lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2),
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
)
derivative("fill_diagonal_", self=lambda grad, wrap: grad.clone().fill_diagonal_(0, wrap))

# --- one index tensor, one dimension ---------------------------------------------------------------------------------

derivative("gather", self=lambda grad, self_sizes, dim, index: grad.new_zeros(self_sizes).scatter_add(dim, index, grad))
derivative(
    "scatter.src",
    self=lambda grad, dim, index: grad.scatter(dim, index, 0),
    src=lambda grad, dim, index: grad.gather(dim, index),
)
derivative("scatter.value", self=lambda grad, dim, index: grad.scatter(dim, index, 0))
derivative("scatter.reduce", self=lambda grad: _no_scatter(), src=lambda grad: _no_scatter())
derivative("scatter.value_reduce", self=lambda grad: _no_scatter())
derivative("scatter_add", self=lambda grad: grad, src=lambda grad, dim, index: grad.gather(dim, index))

derivative(
    "index_select", self=lambda grad, self_sizes, dim, index: grad.new_zeros(self_sizes).index_add(dim, index, grad)
)
derivative(
    "index_add",
    self=lambda grad: grad,
    source=lambda grad, source_sizes, dim, index, alpha: grad.index_select(dim, index).reshape(source_sizes) * alpha,
)

derivative(
    "index_copy",
    self=lambda grad, dim, index: grad.index_fill(dim, index, 0),
    source=lambda grad, source_sizes, dim, index: grad.index_select(dim, index).reshape(source_sizes),
)
derivative("index_fill.int_Scalar", self=lambda grad, dim, index: grad.index_fill(dim, index, 0))
derivative(
    "index_fill.int_Tensor",
    self=lambda grad, dim, index: grad.index_fill(dim, index, 0),
    value=lambda grad, dim, index: (grad - grad.index_fill(dim, index, 0)).sum(),
)

# --- positions in the flattened tensor -------------------------------------------------------------------------------

derivative("take", self=lambda grad, self_sizes, index: grad.new_zeros(self_sizes).put(index, grad, True))
derivative(
    "put",
    self=lambda grad, index, accumulate: grad if accumulate else grad.put(index, grad.new_zeros(index.shape)),
    source=lambda grad, source_sizes, index: grad.take(index).reshape(source_sizes),
)

# --- masks -----------------------------------------------------------------------------------------------------------

derivative("masked_fill.Scalar", self=lambda grad, mask: grad.masked_fill(mask, 0))
derivative(
    "masked_fill.Tensor",
    self=lambda grad, mask: grad.masked_fill(mask, 0),
    value=lambda grad, mask: grad.masked_select(mask).sum(),
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

non_differentiable("nonzero", "nonzero_static")
