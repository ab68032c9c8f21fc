"""Functions that the formulas of several families share.

Mirrors: torch/csrc/autograd/FunctionsManual.cpp
Leaves out: the functions that one family uses, which stand in the file of the family.
"""

import math
from collections.abc import Sequence
from typing import Any

from reftorch import _C

_fn = _C._VariableFunctions
_linalg = _C._linalg

# --- matrices ---------------------------------------------------------------------------------------------------------


def diagonal_matrix(diagonal: Any) -> Any:
    return _fn.diag_embed(diagonal)


def solve_triangular(A: Any, B: Any, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    return _linalg.linalg_solve_triangular(A, B, upper=upper, left=left, unitriangular=unitriangular)


def is_vector_rhs(A_sizes: Any, B_sizes: Any) -> bool:
    return len(B_sizes) == 1 or list(A_sizes[:-1]) == list(B_sizes)


# Golub and Pereyra, "The differentiation of pseudo-inverses", 1973
def pinv_backward(grad, pinv, A):
    if A.shape[-2] <= A.shape[-1]:
        K = grad.mT @ pinv
        KP = K @ pinv.mT
        return KP - (pinv @ K).mT - A @ pinv @ KP + pinv.mT @ pinv @ (grad.mT - K @ A)
    K = pinv @ grad.mT
    PK = pinv.mT @ K
    return PK - (K @ pinv).mT + (grad.mT - A @ K) @ pinv @ pinv.mT - PK @ pinv @ A


def times(tensor, factor):
    return tensor if factor == 1 else tensor * factor


# --- reductions -------------------------------------------------------------------------------------------------------


def reduced_dims(dim: int | Sequence[int] | None, ndim: int) -> list[int]:
    """Return the reduced dimensions, counted from the front; None or an empty list means all dimensions."""
    if dim is None:
        return list(range(ndim))
    dims = [dim] if isinstance(dim, int) else list(dim)
    return sorted(d % ndim for d in dims) if dims and ndim > 0 else list(range(ndim))


def restored(reduced: Any, sizes: Sequence[int], dim: int | Sequence[int] | None, keepdim: bool) -> Any:
    """Insert the dimensions that a reduction removed, with size 1."""
    if keepdim or not sizes:
        return reduced
    for d in reduced_dims(dim, len(sizes)):
        reduced = reduced.unsqueeze(d)
    return reduced


def reduced_count(sizes: Sequence[int], dim: int | Sequence[int] | None) -> int:
    return math.prod(sizes[d] for d in reduced_dims(dim, len(sizes)))


def hides_values(tensor: Any) -> bool:
    """Return whether a formula cannot read the elements: under vmap, and on meta, where there are none."""
    return _C._functorch.is_batched(tensor) or tensor.is_meta


def may_have_zero(tensor: Any) -> bool:
    """Return whether there may be a zero. True is always correct, and is the answer where elements cannot be read."""
    return hides_values(tensor) or (tensor == 0).any().item()


def products_before(x: Any, dim: int) -> Any:
    """Return x_0 x_1 ... x_(i-1) at each i."""
    first = _fn.ones_like(x.narrow(dim, 0, 1))
    return _fn.cat([first, x.narrow(dim, 0, x.size(dim) - 1)], dim).cumprod(dim)


def products_of_others(x: Any, dim: int) -> Any:
    """Return for each element the product of the other elements along ``dim``. A division by the element might be
    0 / 0; the products of the elements before and after it take memory for no more than a few copies of x.
    """
    if x.size(dim) == 0:
        return x
    return products_before(x, dim) * products_before(x.flip(dim), dim).flip(dim)


def share_equally(grad: Any, self: Any, result: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Distribute the gradient equally among all elements that equal the extremum."""
    grad, result = (restored(t, self.shape, dim, keepdim) for t in (grad, result))
    is_extremum = (self == result).logical_or(self.isnan())
    count = is_extremum.sum(reduced_dims(dim, self.dim()), keepdim=True)
    return _fn.where(is_extremum, grad / count, 0.0)


def quotient(numerator: Any, denominator: Any) -> Any:
    """Return numerator / denominator, and 0 where the denominator is 0.

    There the divisor is 1, and not a 0 whose quotient is discarded: the derivative of a discarded 0 / 0 is NaN.
    """
    is_zero = denominator == 0
    return _fn.where(is_zero, 0.0, numerator / _fn.where(is_zero, 1.0, denominator))


# --- norms ------------------------------------------------------------------------------------------------------------


# |x|_p = (sum |x|^p)^(1/p)
def norm_backward(grad: Any, self: Any, p: float | None, result: Any, dim: Any = None, keepdim: bool = False) -> Any:
    p = 2 if p is None else p
    grad, result = (restored(t, self.shape, dim, keepdim) for t in (grad, result))
    if p == 0:
        return _fn.zeros_like(self)
    if p == 1:
        return grad * self.sign()
    if p == 2:
        return grad * quotient(self, result)
    if math.isinf(p):
        return self.sign() * share_equally(grad, self.abs(), result, dim, keepdim=True)
    is_zero, no_length = self == 0, result == 0
    power = _fn.where(is_zero, 0.0, self * _fn.where(is_zero, 1.0, self.abs()).pow(p - 2))
    return power * _fn.where(no_length, 0.0, grad / _fn.where(no_length, 1.0, result).pow(p - 1))
