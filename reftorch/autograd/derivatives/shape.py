"""Views, and ops that rearrange whole tensors: the gradient is rearranged in the opposite direction.

Mirrors: tools/autograd/derivatives.yaml (view, expand, select, cat, ...), torch/csrc/autograd/FunctionsManual.cpp
"""

import sys

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable

_torch = _C._VariableFunctions

# --- the same elements in another shape ------------------------------------------------------------------------------

derivative("view", self=lambda grad, self_sizes: grad.reshape(self_sizes))
derivative("_unsafe_view", self=lambda grad, self_sizes: grad.reshape(self_sizes))
derivative("alias", self=lambda grad: grad)
derivative("expand", self=lambda grad: grad)  # the engine sums over the expanded dimensions
derivative("t", self=lambda grad: grad.t())
derivative("transpose.int", self=lambda grad, dim0, dim1: grad.transpose(dim0, dim1))
derivative("unsqueeze", self=lambda grad, dim: grad.squeeze(dim))
derivative("squeeze", self=lambda grad, self_sizes: grad.reshape(self_sizes))
derivative("squeeze.dim", self=lambda grad, self_sizes: grad.reshape(self_sizes))
derivative("squeeze.dims", self=lambda grad, self_sizes: grad.reshape(self_sizes))


def _inverse(dims):
    inverse = [0] * len(dims)
    for new, old in enumerate(dims):
        inverse[old % len(dims)] = new
    return inverse


derivative("permute", self=lambda grad, dims: grad.permute(_inverse(dims)))

derivative("t_", self=lambda grad: grad.t())
derivative("transpose_", self=lambda grad, dim0, dim1: grad.transpose(dim0, dim1))
derivative("swapaxes_", self=lambda grad, axis0, axis1: grad.transpose(axis0, axis1))
derivative("swapdims_", self=lambda grad, dim0, dim1: grad.transpose(dim0, dim1))
derivative("unsqueeze_", self=lambda grad, dim: grad.squeeze(dim))
derivative("squeeze_", self=lambda grad, self_sizes: grad.reshape(self_sizes))
derivative("squeeze_.dims", self=lambda grad, self_sizes: grad.reshape(self_sizes))
derivative("squeeze_.dim", self=lambda grad, self_sizes: grad.reshape(self_sizes))

# --- a part: zeros with the gradient in its place -------------------------------------------------------------------

derivative("select.int", self=lambda grad, self_sizes, dim, index: _torch.select_backward(grad, self_sizes, dim, index))
derivative("select_backward", grad_output=lambda grad, dim, index: grad.select(dim, index))

derivative(
    "slice.Tensor",
    self=lambda grad, self_sizes, dim, start, end, step: _torch.slice_backward(
        grad, self_sizes, dim, 0 if start is None else start, sys.maxsize if end is None else end, step
    ),
)
derivative("slice_backward", grad_output=lambda grad, dim, start, end, step: _torch.slice(grad, dim, start, end, step))

derivative(
    "diagonal",
    self=lambda grad, self_sizes, offset, dim1, dim2: _torch.diagonal_backward(grad, self_sizes, offset, dim1, dim2),
)
derivative("diagonal_backward", grad_output=lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2))
derivative("diag_embed", self=lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2))

derivative(
    "unfold",
    self=lambda grad, self_sizes, dimension, size, step: _torch.unfold_backward(
        grad, self_sizes, dimension, size, step
    ),
)
derivative("unfold_backward", grad_in=lambda grad, dim, size, step: grad.unfold(dim, size, step))

derivative(
    "trace", self=lambda grad, self_sizes: _torch.diagonal_backward(grad.expand(min(self_sizes)), self_sizes, 0, 0, 1)
)
derivative(
    "constant_pad_nd", self=lambda grad, pad: _torch.constant_pad_nd(grad, [-n for n in pad])
)  # padding, whose gradient is cropped
derivative("tril", self=lambda grad, diagonal: grad.tril(diagonal))
derivative("triu", self=lambda grad, diagonal: grad.triu(diagonal))

# --- several parts ---------------------------------------------------------------------------------------------------

derivative("unbind.int", self=lambda grads, dim: _torch.stack(grads, dim))
derivative("split.Tensor", self=lambda grads, dim: _torch.cat(grads, dim))
derivative("split_with_sizes", self=lambda grads, dim: _torch.cat(grads, dim))
derivative("unsafe_split.Tensor", self=lambda grads, dim: _torch.cat(grads, dim))
derivative("unsafe_split_with_sizes", self=lambda grads, dim: _torch.cat(grads, dim))


@derivative("cat", inputs=["tensors"])
def cat(grad, tensors_sizes, dim, needs_input_grad):
    start, grads = 0, []
    for sizes, needed in zip(tensors_sizes, needs_input_grad[0], strict=True):
        if len(sizes) != grad.dim():  # cat ignores an empty tensor of one dimension
            grads.append(grad.new_zeros(sizes) if needed else None)
            continue
        grads.append(grad.narrow(dim, start, sizes[dim]) if needed else None)
        start += sizes[dim]
    return (grads,)


@derivative("stack", inputs=["tensors"])
def stack(grad, dim):
    return (grad.unbind(dim),)


@derivative("block_diag", inputs=["tensors"])
def block_diag(grad, tensors_sizes, needs_input_grad):
    row, col, grads = 0, 0, []
    for sizes, needed in zip(tensors_sizes, needs_input_grad[0], strict=True):
        rows, cols = [1] * (2 - len(sizes)) + list(sizes)
        grads.append(grad[row : row + rows, col : col + cols].reshape(sizes) if needed else None)
        row, col = row + rows, col + cols
    return (grads,)


# --- rearranged copies -----------------------------------------------------------------------------------------------

derivative("flip", self=lambda grad, dims: grad.flip(dims))
derivative("roll", self=lambda grad, shifts, dims: grad.roll([-shift for shift in shifts], dims))
derivative("rot90", self=lambda grad, k, dims: grad.rot90(-k, dims))


def _repeat_backward(grad, self_sizes, repeats):
    leading = len(repeats) - len(self_sizes)
    sizes = [1] * leading + list(self_sizes)
    split = [n for pair in zip(repeats, sizes, strict=True) for n in pair]
    if not split:
        return grad
    return grad.reshape(split).sum(list(range(0, len(split), 2))).reshape(self_sizes)


derivative("repeat", self=_repeat_backward)

# --- as_strided: any geometry on the same memory, so the formulas treat the memory as one long vector ----------------


def _as_strided_backward(grad, self_sizes, self_strides, self_storage_offset, size, stride, storage_offset):
    offset = 0 if storage_offset is None else storage_offset - self_storage_offset
    before = max(-offset, 0)  # the result may begin before self, because both use the same memory
    offset += before
    reach = before
    if 0 not in self_sizes:
        reach += sum((n - 1) * s for n, s in zip(self_sizes, self_strides, strict=True))
    span = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if grad.numel() else 0
    length = max(reach, span) + 1
    every_place = _torch.arange(length)
    places = every_place.as_strided(size, stride, offset).reshape(-1)
    memory = grad.new_zeros(length).index_add(0, places, grad.reshape(-1))
    if _elements_overlap(self_sizes, self_strides):  # elements that share a position in memory share its gradient
        own = every_place.as_strided(self_sizes, self_strides, before).reshape(-1)
        memory = memory / grad.new_zeros(length).index_add(0, own, grad.new_ones(own.shape)).clamp(min=1)
    return memory.as_strided(self_sizes, self_strides, before)


def _elements_overlap(sizes, strides):
    """Return whether elements may share memory: whether a stride is at most the extent of the smaller strides."""
    covered = 0
    for stride, n in sorted(zip(strides, sizes, strict=True)):
        if n > 1 and stride <= covered:
            return True
        covered += (n - 1) * stride
    return False


derivative("as_strided", self=_as_strided_backward)
derivative("as_strided_", self=_as_strided_backward)

# --- other bytes, other memory: not differentiable --------------------------------------------------------------------

non_differentiable("view.dtype", "repeat_interleave.Tensor")
non_differentiable("set_", "set_.source_Tensor", "set_.source_Tensor_storage_offset", "is_set_to")
