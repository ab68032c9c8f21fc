"""Derivatives of scans: each result depends on its element and on all elements before it.

Mirrors: tools/autograd/derivatives.yaml (cumsum, cumprod, logcumsumexp, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from collections.abc import Sequence
from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative
from reftorch.autograd.derivatives._functions_manual import may_have_zero

_fn = _C._VariableFunctions


def _sum_of_rest(x: Any, dim: int) -> Any:
    """Return x_i + x_(i+1) + ... + x_n at each i."""
    return x.flip(dim).cumsum(dim).flip(dim)


derivative("cumsum", self=lambda grad, dim: _sum_of_rest(grad, dim), result="auto_linear")


# y_i = x_0 ... x_i, so dy_i / dx_k = y_i / x_k for i >= k
def _cumprod(grad: Any, self: Any, result: Any, dim: int) -> Any:
    if self.dim() == 0:
        return grad
    if may_have_zero(self):
        return _cumprod_with_zeros(grad, self, dim)
    return _sum_of_rest(grad * result, dim) / self


def _cumprod_with_zeros(grad: Any, self: Any, dim: int) -> Any:
    """Compute the gradient where a division would be 0 / 0: from each product without x_k, for every k, n^2
    products in all.
    """
    row, grad_row = self.movedim(dim, -1), grad.movedim(dim, -1)
    n = row.size(-1)
    without = _fn.where(_fn.eye(n, dtype=_C.bool), 1.0, row.unsqueeze(-2)).cumprod(-1)  # (..., k, i)
    return (grad_row.unsqueeze(-2) * without.triu()).sum(-1).movedim(-1, dim)


derivative("cumprod", self=_cumprod)


# dy_i / dx_k = e^(x_k - y_i). The positive and the negative part of the gradient stay logarithms, so that nothing
# overflows.
def _logcumsumexp(grad: Any, self: Any, result: Any, dim: int) -> Any:
    if grad.dim() == 0 or grad.numel() == 0:
        return grad
    lowest = -1e300 if grad.dtype == _C.float64 else -3e38 if grad.dtype != _C.float16 else -65504.0

    def rest(log_grad: Any) -> Any:
        return ((log_grad - result).flip(dim).logcumsumexp(dim).flip(dim) + self).exp()

    positive = _fn.where(grad > 0, grad.log(), lowest)
    negative = _fn.where(grad < 0, (-grad).log(), lowest)
    return rest(positive) - rest(negative)


derivative("logcumsumexp", self=_logcumsumexp)


def _to_places(grad: Any, self_sizes: Sequence[int], indices: Any, dim: int) -> Any:
    """Add the gradients at each index, because one element may be the extremum of many results."""
    if not self_sizes or grad.numel() == 0:
        return grad
    return grad.new_zeros(self_sizes).scatter_add(dim, indices, grad)


derivative("cummax", self=_to_places)
derivative("cummin", self=_to_places)
