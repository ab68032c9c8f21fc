"""Derivatives of views: the same elements in another shape.

The gradient is viewed in the opposite direction.

Mirrors: tools/autograd/derivatives.yaml (view, _unsafe_view, alias, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable

_torch = _C._VariableFunctions

# --- the same elements in another shape -------------------------------------------------------------------------------


def _unsqueeze_to(grad, self_sizes, dim):
    return grad.unsqueeze(dim) if len(self_sizes) > 0 and self_sizes[dim] == 1 else grad


derivative("view", self=lambda grad, self_sizes: grad.reshape(self_sizes), result="auto_linear")
derivative("_unsafe_view", self=lambda grad, self_sizes: grad.reshape(self_sizes), result="auto_linear")
derivative("alias", self=lambda grad: grad, result="auto_linear")
derivative("lift_fresh", self=lambda grad: grad)
derivative("expand", self=lambda grad: grad, result="auto_linear")  # the engine sums over the expanded dimensions
derivative("t", self=lambda grad: grad.t(), result="auto_linear")
derivative("transpose.int", self=lambda grad, dim0, dim1: grad.transpose(dim0, dim1), result="auto_linear")
derivative("unsqueeze", self=lambda grad, dim: grad.squeeze(dim), result="auto_linear")
derivative("squeeze", self=lambda grad, self_sizes: grad.reshape(self_sizes), result="auto_linear")
derivative(
    "squeeze.dim",
    self=lambda grad, self_sizes, dim: _unsqueeze_to(grad, self_sizes, dim),
    result="auto_linear",
    node_number=1,
)
derivative("squeeze.dims", self=lambda grad, self_sizes: grad.reshape(self_sizes), result="auto_linear", node_number=2)


def _inverse(dims):
    inverse = [0] * len(dims)
    for new, old in enumerate(dims):
        inverse[old % len(dims)] = new
    return inverse


derivative("permute", self=lambda grad, dims: grad.permute(_inverse(dims)), result="auto_linear")

derivative("t_", self=lambda grad: grad.t(), result="auto_linear", node_number=1)
derivative("transpose_", self=lambda grad, dim0, dim1: grad.transpose(dim0, dim1), result="auto_linear", node_number=1)
derivative("unsqueeze_", self=lambda grad, dim: grad.squeeze(dim), result="auto_linear", node_number=1)
derivative("squeeze_", self=lambda grad, self_sizes: grad.reshape(self_sizes), result="auto_linear", node_number=3)
derivative("squeeze_.dims", self=lambda grad, self_sizes: grad.reshape(self_sizes), result="auto_linear", node_number=5)
derivative("squeeze_.dim", self=lambda grad, self_sizes: grad.reshape(self_sizes), result="auto_linear", node_number=4)

# --- as_strided: any geometry on the same memory, so the formulas treat the memory as one long vector -----------------


def _as_strided_backward(grad, self_sizes, self_strides, self_storage_offset, size, stride, storage_offset):
    offset = 0 if storage_offset is None else storage_offset - self_storage_offset
    before = max(-offset, 0)  # the result may begin before self, because both use the same memory
    offset += before
    reach = before
    if 0 not in self_sizes:
        reach += sum((n - 1) * s for n, s in zip(self_sizes, self_strides, strict=True))
    span = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if grad.numel() else 0
    length = max(reach, span) + 1
    every_place = _torch.arange(length, device=grad.device)
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


derivative("as_strided", self=_as_strided_backward, result="auto_linear")
derivative("as_strided_", self=_as_strided_backward, node_number=1)

# --- other bytes, other memory: not differentiable --------------------------------------------------------------------

non_differentiable("view.dtype")
non_differentiable("set_", "set_.source_Tensor", "set_.source_Tensor_storage_offset", "is_set_to")
