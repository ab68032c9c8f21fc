"""Derivatives of choices and clamping.

Mirrors: tools/autograd/derivatives.yaml (where, clamp, clamp_min, clamp_max), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable

_where = _C._VariableFunctions.where

# --- choices ----------------------------------------------------------------------------------------------------------

derivative(
    "where.self",
    self=lambda grad, condition: _where(condition, grad, 0.0),
    other=lambda grad, condition: _where(condition, 0.0, grad),
    result="auto_element_wise",
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


derivative("clamp", self=_clamp_self, result="auto_element_wise", node_number=1)
derivative("clamp.Tensor", self=_clamp_self, min=_clamp_min, max=_clamp_max, result="auto_element_wise")

derivative("clamp_min", self=lambda grad, self, min: _where(self >= min, grad, 0.0), result="auto_element_wise")
derivative(
    "clamp_min.Tensor",
    self=lambda grad, self, min: _where(self >= min, grad, 0.0),
    min=lambda grad, self, min: _where(self < min, grad, 0.0),
    result="auto_element_wise",
    node_number=1,
)

derivative("clamp_max", self=lambda grad, self, max: _where(self <= max, grad, 0.0), result="auto_element_wise")
derivative(
    "clamp_max.Tensor",
    self=lambda grad, self, max: _where(self <= max, grad, 0.0),
    max=lambda grad, self, max: _where(self > max, grad, 0.0),
    result="auto_element_wise",
    node_number=1,
)

# --- answers ----------------------------------------------------------------------------------------------------------

non_differentiable("isposinf", "isneginf", "isreal", "isin.Tensor_Tensor", "isin.Tensor_Scalar", "isin.Scalar_Tensor")
