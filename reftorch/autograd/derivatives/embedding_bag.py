"""Derivatives of rows of a table and of bags of such rows.

Mirrors: tools/autograd/derivatives.yaml (_embedding_bag, _embedding_bag_dense_backward, embedding, ...),
aten/src/ATen/native/EmbeddingBag.cpp, torch/csrc/autograd/FunctionsManual.cpp
Leaves out: sparse gradients. PyTorch has no second derivatives of bags; here the gradient is made of other ops if it is
to be differentiated. PyTorch's second derivative of ``embedding`` forgets ``scale_grad_by_freq``; the one here divides.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable, not_implemented

_fn, _nn = _C._VariableFunctions, _C._nn
_MEAN, _MAX = 1, 2

# embedding_bag chooses this op where the table needs no gradient.
non_differentiable("_embedding_bag_forward_only")


def _by_ops(
    grad: Any, weight: Any, indices: Any, offset2bag: Any, bag_size: Any, maximum_indices: Any, by_freq: Any, mode: Any,
    per_sample_weights: Any, padding_idx: Any,
) -> Any:  # fmt: skip
    """The gradients of weight and per_sample_weights, made of ops that have derivatives themselves. Each row number i
    adds factor_i grad[bag of i] to row indices[i]; the gradient of a maximum goes to the row that it came from."""
    zeros = _fn.zeros_like(weight)
    if mode == _MAX:
        is_there = (maximum_indices >= 0).to(grad.dtype)
        return zeros.scatter_add(0, maximum_indices.clamp(min=0), grad * is_there), None
    bags = offset2bag.clamp(min=0)
    present = ((indices != padding_idx) & (offset2bag >= 0)).to(grad.dtype)
    of_bags = grad.index_select(0, bags) * present.unsqueeze(1)
    if per_sample_weights is not None:
        factors = per_sample_weights
        of_samples = (of_bags * weight.index_select(0, indices)).sum(1)
    else:
        factors, of_samples = _fn.ones_like(present), None
    if by_freq:
        factors = factors / _fn.bincount(indices, minlength=weight.size(0))[indices]
    if mode == _MEAN:
        factors = factors / bag_size[bags].clamp(min=1)
    return zeros.index_add(0, indices, of_bags * factors.unsqueeze(1)), of_samples


# Only the rows of the bags have a gradient; the other results are row numbers and counts.
@derivative(
    "_embedding_bag",
    inputs=["weight", "per_sample_weights"],
    output_differentiability=[True, False, False, False],
)
def _embedding_bag(
    grad: Any, weight: Any, indices: Any, offsets: Any, result1: Any, result2: Any, result3: Any,
    scale_grad_by_freq: Any, mode: Any, sparse: Any, per_sample_weights: Any, padding_idx: Any, needs_input_grad: Any,
) -> Any:  # fmt: skip
    if _C.is_grad_enabled():
        found = _by_ops(
            grad, weight, indices, result1, result2, result3, scale_grad_by_freq, mode, per_sample_weights, padding_idx
        )
        return tuple(g if wanted else None for g, wanted in zip(found, needs_input_grad, strict=True))
    of_weight = of_samples = None
    if needs_input_grad[0]:
        of_weight = _nn._embedding_bag_backward(
            grad, indices, offsets, result1, result2, result3, weight.size(0), scale_grad_by_freq, mode, sparse,
            per_sample_weights, padding_idx,
        )  # fmt: skip
    if needs_input_grad[1]:
        of_samples = _nn._embedding_bag_per_sample_weights_backward(
            grad, weight, indices, offsets, result1, mode, padding_idx
        )
    return of_weight, of_samples


_refusing = not_implemented("_embedding_bag_dense_backward")
derivative("_embedding_bag_dense_backward", grad=_refusing, per_sample_weights=_refusing)

# --- rows without bags ------------------------------------------------------------------------------------------------

derivative(
    "embedding",
    weight=lambda grad, indices, weight_sizes, padding_idx, scale_grad_by_freq, sparse: _nn.embedding_backward(
        grad, indices, weight_sizes[0], padding_idx, scale_grad_by_freq, sparse
    ),
)


def _of_gradient(grad: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    """The op adds each row of its argument to a row of the table, so the gradients are looked up in the table."""
    rows = indices.reshape(-1)
    picked = grad.index_select(0, rows)
    if padding_idx >= 0:
        picked = picked.masked_fill((rows == padding_idx).unsqueeze(1), 0)
    if scale_grad_by_freq:
        counts = _fn.bincount(rows, minlength=num_weights)
        picked = picked / counts.index_select(0, rows).unsqueeze(1)
    return picked.reshape(*indices.shape, -1) if picked.numel() else picked.reshape(*indices.shape, grad.size(1))


derivative("embedding_dense_backward", grad_output=_of_gradient)

# The norms are scaled outside autograd, as in PyTorch.
derivative("embedding_renorm", self=not_implemented("embedding_renorm"))
