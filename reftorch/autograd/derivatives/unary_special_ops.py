"""Derivatives of special functions of one number.

Mirrors: tools/autograd/derivatives.yaml (erf, erfc, erfinv, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

import math
from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_fn, _special = _C._VariableFunctions, _C._special

# --- the bell curve: erf' = 2/sqrt(pi) e^(-x^2) -----------------------------------------------------------------------

derivative(
    "erf", self=lambda grad, self: grad * (2 / math.sqrt(math.pi) * (-self * self).exp()), result="auto_element_wise"
)
derivative(
    "erfc", self=lambda grad, self: grad * (-2 / math.sqrt(math.pi) * (-self * self).exp()), result="auto_element_wise"
)
derivative(
    "erfinv",
    self=lambda grad, result: grad * (math.sqrt(math.pi) / 2 * (result * result).exp()),
    result="auto_element_wise",
)

derivative("special_erfcx", self=lambda grad, self, result: grad * (2 * self * result - 2 / math.sqrt(math.pi)))
derivative(
    "special_log_ndtr",
    self=lambda grad, self: grad / _special.special_erfcx(self * -math.sqrt(0.5)) * math.sqrt(2 / math.pi),
)
derivative(
    "special_ndtri",
    self=lambda grad, result: grad * (math.sqrt(2 * math.pi) * (result * result / 2).exp()),
)

# --- the gamma function -----------------------------------------------------------------------------------------------

derivative("lgamma", self=lambda grad, self: grad * self.digamma(), result="auto_element_wise")
derivative("digamma", self=lambda grad, self: grad * _fn.polygamma(1, self), result="auto_element_wise")
derivative("polygamma", self=lambda grad, n, self: grad * _fn.polygamma(n + 1, self), result="auto_element_wise")
derivative("polygamma_", self=lambda grad, n, self: grad * _fn.polygamma(n + 1, self), node_number=1)

derivative("mvlgamma", self=lambda grad, self, p: grad * sum((self - j / 2).digamma() for j in range(p)))

# --- Bessel functions: I0' = I1 and I1' = I0 - I1/x, where I1/x is 1/2 at 0; the scaled ones have e^-|x| --------------

derivative("i0", self=lambda grad, self: grad * _special.special_i1(self), result="auto_element_wise")
derivative(
    "special_i0e",
    self=lambda grad, self, result: grad * (_special.special_i1e(self) - self.sgn() * result),
    result="auto_element_wise",
)


# The formulas divide by x. Near 0, where 1 / x could overflow, both slopes are 1 / 2 to the last digit.
def _near_zero(self: Any) -> Any:
    return self.abs() <= (2.0**-52 if self.dtype == _C.float64 else 2.0**-23)


def _i1(grad: Any, self: Any, result: Any) -> Any:
    near = _near_zero(self)
    x = _fn.where(near, 1.0, self)
    return grad * _fn.where(near, 0.5, _fn.i0(x) - result / x)


def _i1e(grad: Any, self: Any, result: Any) -> Any:
    near = _near_zero(self)
    x = _fn.where(near, 1.0, self)
    return grad * _fn.where(near, 0.5, _special.special_i0e(x) - result * (x.sgn() + 1 / x))


derivative("special_i1", self=_i1, result="auto_element_wise")
derivative("special_i1e", self=_i1e, result="auto_element_wise")

# --- logarithms -------------------------------------------------------------------------------------------------------

derivative("special_entr", self=lambda grad, self: grad * (-(1 + self.log())))

# --- others -----------------------------------------------------------------------------------------------------------


# d/dx log(x / (1 - x)) = 1 / (x (1 - x)). Outside the domain the slope is nan; outside the bounds that eps gives, it is
# 0.
def _logit(grad: Any, self: Any, eps: float | None) -> Any:
    low = 0.0 if eps is None else eps
    outside = (self < low).logical_or(self > 1 - low)
    return _fn.where(outside, math.nan if eps is None or eps < 0 else 0.0, grad / (self * (1 - self)))


derivative("logit", self=_logit, result="auto_element_wise")


# d/dx sin(y) / y = pi (y cos(y) - sin(y)) / y^2 with y = pi x. The slope is set to 0 where x y is 0, and not only where
# x is 0: the square of a small number underflows to 0, and so does the numerator.
def _sinc(grad: Any, self: Any) -> Any:
    y = self * math.pi
    square = self * self * math.pi
    slope = (y * y.cos() - y.sin()) / square
    return _fn.where(square == 0, 0.0, grad * slope)


derivative("sinc", self=_sinc, result="auto_element_wise")
