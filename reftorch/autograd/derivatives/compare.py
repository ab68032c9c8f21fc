"""Comparisons, choices, clamping.

Mirrors: tools/autograd/derivatives.yaml (eq, where, clamp, maximum), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: in-place forms of comparisons on floats, whose gradient is zero.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable

_where = _C._VariableFunctions.where

for _op in ("eq", "ne", "lt", "le", "gt", "ge"):
    non_differentiable(f"{_op}.Tensor", f"{_op}.Scalar")
non_differentiable("logical_and", "logical_or", "logical_xor")
for _op in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    non_differentiable(f"{_op}.Tensor", f"{_op}.Scalar", f"{_op}.Scalar_Tensor")
for _op in ("bitwise_left_shift", "bitwise_right_shift"):
    non_differentiable(f"{_op}.Tensor", f"{_op}.Tensor_Scalar", f"{_op}.Scalar_Tensor")

# --- choices ---------------------------------------------------------------------------------------------------------

derivative(
    "where.self",
    self=lambda grad, condition: _where(condition, grad, 0.0),
    other=lambda grad, condition: _where(condition, 0.0, grad),
)

# Two equal elements receive half of the gradient each.
derivative(
    "maximum",
    self=lambda grad, self, other: _where(self == other, grad / 2, _where(self < other, 0.0, grad)),
    other=lambda grad, self, other: _where(self == other, grad / 2, _where(other < self, 0.0, grad)),
)

derivative(
    "minimum",
    self=lambda grad, self, other: _where(self == other, grad / 2, _where(self > other, 0.0, grad)),
    other=lambda grad, self, other: _where(self == other, grad / 2, _where(other > self, 0.0, grad)),
)

# --- clamping: an element that equals a bound still receives the gradient ---------------------------------------------


def _clamp_self(grad: Any, self: Any, min: Any, max: Any) -> Any:
    if min is not None:
        grad = _where(self >= min, grad, 0.0)
    if max is not None:
        grad = _where(self <= max, grad, 0.0)
    return grad


def _clamp_min(grad: Any, self: Any, min: Any, max: Any) -> Any:
    active = self < min if max is None else (min < max).logical_and(self < min)
    return _where(active, grad, 0.0)


def _clamp_max(grad: Any, self: Any, min: Any, max: Any) -> Any:
    active = self > max if min is None else (self > max).logical_or(max < min)
    return _where(active, grad, 0.0)


derivative("clamp", self=_clamp_self)
derivative("clamp.Tensor", self=_clamp_self, min=_clamp_min, max=_clamp_max)

derivative("clamp_min", self=lambda grad, self, min: _where(self >= min, grad, 0.0))
derivative(
    "clamp_min.Tensor",
    self=lambda grad, self, min: _where(self >= min, grad, 0.0),
    min=lambda grad, self, min: _where(self < min, grad, 0.0),
)

derivative("clamp_max", self=lambda grad, self, max: _where(self <= max, grad, 0.0))
derivative(
    "clamp_max.Tensor",
    self=lambda grad, self, max: _where(self <= max, grad, 0.0),
    max=lambda grad, self, max: _where(self > max, grad, 0.0),
)
