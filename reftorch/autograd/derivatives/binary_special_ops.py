"""Derivatives of special functions of two numbers: igamma, zeta, xlog1py.

Mirrors: tools/autograd/derivatives.yaml (igamma, igammac, special_zeta, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative, not_implemented

_fn, _special = _C._VariableFunctions, _C._special

# --- gamma and zeta functions -----------------------------------------------------------------------------------------


# d/dx P(a, x) = x^(a - 1) e^-x / Gamma(a)
def _igamma(grad: Any, self: Any, other: Any) -> Any:
    return grad * ((self - 1) * other.log() - other - self.lgamma()).exp()


derivative("igamma", self=not_implemented("igamma: input"), other=_igamma)
derivative(
    "igammac", self=not_implemented("igammac: input"), other=lambda grad, self, other: -_igamma(grad, self, other)
)


# d/dq zeta(s, q) = -s zeta(s + 1, q)
def _zeta(grad: Any, self: Any, other: Any) -> Any:
    return grad * -self * _special.special_zeta(self + 1, other)


derivative("special_zeta", self=not_implemented("zeta"), other=_zeta)
derivative("special_zeta.self_scalar", other=_zeta, node_number=1)
derivative("special_zeta.other_scalar", self=not_implemented("zeta"), node_number=2)

# --- logarithms -------------------------------------------------------------------------------------------------------


# The derivative of x log(1 + y) by x is 0 where the op defines the result as 0.
def _xlog1py_self(grad: Any, self: Any, other: Any) -> Any:
    other = other if hasattr(other, "dtype") else grad.new_tensor(other)
    return _fn.where((self == 0).logical_and(other <= -1), 0.0, grad * other.log1p())


derivative("special_xlog1py", self=_xlog1py_self, other=lambda grad, self, other: grad * self / (other + 1))
derivative("special_xlog1py.self_scalar", other=lambda grad, self, other: grad * self / (other + 1), node_number=1)
derivative("special_xlog1py.other_scalar", self=_xlog1py_self, node_number=2)
