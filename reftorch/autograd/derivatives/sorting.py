"""Derivatives of sorting and order statistics.

The gradient flows to the position of the selected element.

Mirrors: tools/autograd/derivatives.yaml (sort, topk, kthvalue, median, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from collections.abc import Sequence
from typing import Any

from reftorch.autograd.derivatives import derivative


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
derivative("sort.stable", self=_to_places, node_number=1)
derivative("topk", self=_to_places)
derivative("kthvalue", self=_to_place)
derivative("median.dim", self=_to_place, node_number=1)
derivative("nanmedian.dim", self=_to_place, node_number=1)
derivative("mode", self=_to_place)


def _median(grad: Any, self: Any, result: Any) -> Any:
    """Distribute the gradient equally among all elements that equal the median; a NaN median equals every NaN."""
    is_median = (self == result).logical_or(self.isnan().logical_and(result.isnan()))
    return grad / is_median.sum() * is_median


derivative("median", self=_median)
derivative("nanmedian", self=_median)
