"""Special functions.

Mirrors: tools/autograd/derivatives.yaml (erf, lgamma, i0), torch/csrc/autograd/FunctionsManual.cpp (logit, sinc, i1)
Leaves out: complex conjugates.
"""

import math
from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_fn = _C._VariableFunctions

# --- the bell curve: erf' = 2/sqrt(pi) e^(-x^2) ----------------------------------------------------------------------

derivative("erf", self=lambda grad, self: grad * (2 / math.sqrt(math.pi) * (-self * self).exp()))
derivative("erfc", self=lambda grad, self: grad * (-2 / math.sqrt(math.pi) * (-self * self).exp()))
derivative("erfinv", self=lambda grad, result: grad * (math.sqrt(math.pi) / 2 * (result * result).exp()))

# --- the gamma function ----------------------------------------------------------------------------------------------

derivative("lgamma", self=lambda grad, self: grad * self.digamma())
derivative("digamma", self=lambda grad, self: grad * _fn.polygamma(1, self))
derivative("polygamma", self=lambda grad, n, self: grad * _fn.polygamma(n + 1, self))
derivative("polygamma_", self=lambda grad, n, self: grad * _fn.polygamma(n + 1, self))

derivative("mvlgamma", self=lambda grad, self, p: grad * sum((self - j / 2).digamma() for j in range(p)))

# --- Bessel functions: I0' = I1 and I1' = I0 - I1/x, which is 1/2 at 0; the scaled ones carry e^-|x| along ------------

derivative("i0", self=lambda grad, self: grad * _fn.special_i1(self))
derivative("special_i0e", self=lambda grad, self, result: grad * (_fn.special_i1e(self) - self.sgn() * result))


def _i1(grad: Any, self: Any, result: Any) -> Any:
    x = _fn.where(self == 0, 1.0, self)
    return grad * _fn.where(self == 0, 0.5, _fn.i0(x) - result / x)


def _i1e(grad: Any, self: Any, result: Any) -> Any:
    x = _fn.where(self == 0, 1.0, self)
    return grad * _fn.where(self == 0, 0.5, _fn.special_i0e(x) - result * (x.sgn() + 1 / x))


derivative("special_i1", self=_i1)
derivative("special_i1e", self=_i1e)

# --- others ----------------------------------------------------------------------------------------------------------


# d/dx log(x / (1 - x)) = 1 / (x (1 - x)); outside of its domain there is no slope, past a bound none.
def _logit(grad: Any, self: Any, eps: float | None) -> Any:
    low = 0.0 if eps is None else eps
    outside = (self < low).logical_or(self > 1 - low)
    return _fn.where(outside, math.nan if eps is None or eps < 0 else 0.0, grad / (self * (1 - self)))


derivative("logit", self=_logit)


# d/dx sin(y) / y = pi (y cos(y) - sin(y)) / y^2 with y = pi x
def _sinc(grad: Any, self: Any) -> Any:
    y = self * math.pi
    slope = (y * y.cos() - y.sin()) / (self * y)
    return _fn.where(self == 0, 0.0, grad * slope)


derivative("sinc", self=_sinc)
