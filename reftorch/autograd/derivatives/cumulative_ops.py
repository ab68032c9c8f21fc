"""Derivatives of scans: each result depends on its element and on all elements before it.

Mirrors: tools/autograd/derivatives.yaml (cumsum, cumprod, logcumsumexp, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from collections.abc import Sequence
from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative
from reftorch.autograd.derivatives._functions_manual import may_have_zero, products_before

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
    """Compute the gradient where a division would be 0 / 0.

    The gradient of x_k is x_0 ... x_(k-1) times s_k, where s_k = g_k + g_(k+1) x_(k+1) + g_(k+2) x_(k+1) x_(k+2) + ...
    is the gradient of the products from k on. Each round of the loop doubles the number of terms in s: s_k of two terms
    plus a product of two elements times s_(k+2) makes s_k of four terms. So log2(n) rounds are enough for n elements.
    """
    n = self.size(dim)
    if n == 0:
        return grad
    sums, step = grad, 1
    # the product of the next element, of the next two, of the next four ..., and 0 for the elements at the end
    products = _fn.cat([self.narrow(dim, 1, n - 1), _fn.zeros_like(self.narrow(dim, 0, 1))], dim)
    while step < n:
        last, near = sums.narrow(dim, n - step, step), products.narrow(dim, 0, n - step)
        sums = _fn.cat([sums.narrow(dim, 0, n - step) + near * sums.narrow(dim, step, n - step), last], dim)
        products = _fn.cat([near * products.narrow(dim, step, n - step), _fn.zeros_like(last)], dim)
        step *= 2
    return products_before(self, dim) * sums


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
