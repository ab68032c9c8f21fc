"""Sorting and selection: the gradient flows to the position of the selected element.

Mirrors: tools/autograd/derivatives.yaml (sort, topk, kthvalue, median, mode), torch/csrc/autograd/FunctionsManual.cpp
    (value_selecting_reduction_backward, evenly_distribute_backward)
"""

from collections.abc import Sequence
from typing import Any

from reftorch.autograd.derivatives import derivative, non_differentiable


def _to_places(grad: Any, self_sizes: Sequence[int], indices: Any, dim: int) -> Any:
    if not self_sizes:
        return grad
    return grad.new_zeros(self_sizes).scatter(dim, indices, grad)


def _to_place(grad: Any, self_sizes: Sequence[int], indices: Any, dim: int, keepdim: bool) -> Any:
    if not self_sizes:
        return grad
    if not keepdim:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return _to_places(grad, self_sizes, indices, dim)


derivative("sort", self=_to_places)
derivative("sort.stable", self=_to_places)
derivative("topk", self=_to_places)
derivative("kthvalue", self=_to_place)
derivative("median.dim", self=_to_place)
derivative("nanmedian.dim", self=_to_place)
derivative("mode", self=_to_place)


def _median(grad: Any, self: Any, result: Any) -> Any:
    """Distribute the gradient equally among all elements that equal the median; a NaN median equals every NaN."""
    is_median = (self == result).logical_or(self.isnan().logical_and(result.isnan()))
    return grad / is_median.sum() * is_median


derivative("median", self=_median)
derivative("nanmedian", self=_median)

non_differentiable(
    "searchsorted.Tensor", "searchsorted.Scalar", "bucketize.Tensor", "bucketize.Scalar", "bincount", "histc",
    "isin.Tensor_Tensor", "isin.Tensor_Scalar", "isin.Scalar_Tensor",
)  # fmt: skip


def _unknown(op: str) -> Any:
    def formula(grad: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{op}' is not implemented.")

    return formula


for _op in ("_unique", "_unique2", "unique_dim", "unique_consecutive", "unique_dim_consecutive"):
    derivative(_op, self=_unknown(_op))
