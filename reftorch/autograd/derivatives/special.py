"""Special functions.

Mirrors: tools/autograd/derivatives.yaml (erf, lgamma, i0, igamma), torch/csrc/autograd/FunctionsManual.cpp (logit,
sinc, i1)
Leaves out: complex conjugates.
"""

import math
from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable

_fn = _C._VariableFunctions

# --- the bell curve: erf' = 2/sqrt(pi) e^(-x^2) ----------------------------------------------------------------------

derivative("erf", self=lambda grad, self: grad * (2 / math.sqrt(math.pi) * (-self * self).exp()))
derivative("erfc", self=lambda grad, self: grad * (-2 / math.sqrt(math.pi) * (-self * self).exp()))
derivative("erfinv", self=lambda grad, result: grad * (math.sqrt(math.pi) / 2 * (result * result).exp()))

derivative("special_erfcx", self=lambda grad, self, result: grad * (2 * self * result - 2 / math.sqrt(math.pi)))
derivative(
    "special_log_ndtr",
    self=lambda grad, self: grad / _fn.special_erfcx(self * -math.sqrt(0.5)) * math.sqrt(2 / math.pi),
)
derivative(
    "special_ndtri",
    self=lambda grad, result: grad * (math.sqrt(2 * math.pi) * (result * result / 2).exp()),
)

# --- the gamma function ----------------------------------------------------------------------------------------------

derivative("lgamma", self=lambda grad, self: grad * self.digamma())
derivative("digamma", self=lambda grad, self: grad * _fn.polygamma(1, self))
derivative("polygamma", self=lambda grad, n, self: grad * _fn.polygamma(n + 1, self))
derivative("polygamma_", self=lambda grad, n, self: grad * _fn.polygamma(n + 1, self))

derivative("mvlgamma", self=lambda grad, self, p: grad * sum((self - j / 2).digamma() for j in range(p)))


def _no_order(what: str) -> Any:
    def formula(grad: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{what}' is not implemented.")

    return formula


# d/dx P(a, x) = x^(a - 1) e^-x / Gamma(a)
def _igamma(grad: Any, self: Any, other: Any) -> Any:
    return grad * ((self - 1) * other.log() - other - self.lgamma()).exp()


derivative("igamma", self=_no_order("igamma: input"), other=_igamma)
derivative("igammac", self=_no_order("igammac: input"), other=lambda grad, self, other: -_igamma(grad, self, other))


# d/dq zeta(s, q) = -s zeta(s + 1, q)
def _zeta(grad: Any, self: Any, other: Any) -> Any:
    return grad * -self * _fn.special_zeta(self + 1, other)


derivative("special_zeta", self=_no_order("zeta"), other=_zeta)
derivative("special_zeta.self_scalar", other=_zeta)
derivative("special_zeta.other_scalar", self=_no_order("zeta"))

# --- Bessel functions: I0' = I1 and I1' = I0 - I1/x, where I1/x is 1/2 at 0; the scaled ones have e^-|x| ------------

derivative("i0", self=lambda grad, self: grad * _fn.special_i1(self))
derivative("special_i0e", self=lambda grad, self, result: grad * (_fn.special_i1e(self) - self.sgn() * result))


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
    return grad * _fn.where(near, 0.5, _fn.special_i0e(x) - result * (x.sgn() + 1 / x))


derivative("special_i1", self=_i1)
derivative("special_i1e", self=_i1e)

# The functions that only torch.special has have no derivative in PyTorch either.
non_differentiable(
    "special_airy_ai",
    "special_bessel_j0",
    "special_bessel_j1",
    "special_bessel_y0",
    "special_bessel_y1",
    "special_modified_bessel_i0",
    "special_modified_bessel_i1",
    "special_modified_bessel_k0",
    "special_modified_bessel_k1",
    "special_scaled_modified_bessel_k0",
    "special_scaled_modified_bessel_k1",
    "special_spherical_bessel_j0",
)

# --- orthogonal polynomials: no derivative in PyTorch either ----------------------------------------------------------

for _family in (
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
):
    non_differentiable(f"special_{_family}", f"special_{_family}.x_scalar", f"special_{_family}.n_scalar")

# --- logarithms ------------------------------------------------------------------------------------------------------

derivative("special_entr", self=lambda grad, self: grad * (-(1 + self.log())))


# The derivative of x log(1 + y) by x is 0 where the op defines the result as 0.
def _xlog1py_self(grad: Any, self: Any, other: Any) -> Any:
    other = other if hasattr(other, "dtype") else grad.new_tensor(other)
    return _fn.where((self == 0).logical_and(other <= -1), 0.0, grad * other.log1p())


derivative("special_xlog1py", self=_xlog1py_self, other=lambda grad, self, other: grad * self / (other + 1))
derivative("special_xlog1py.self_scalar", other=lambda grad, self, other: grad * self / (other + 1))
derivative("special_xlog1py.other_scalar", self=_xlog1py_self)

# --- others ----------------------------------------------------------------------------------------------------------


# d/dx log(x / (1 - x)) = 1 / (x (1 - x)). Outside the domain the slope is nan; outside the bounds that eps gives, it is
# 0.
def _logit(grad: Any, self: Any, eps: float | None) -> Any:
    low = 0.0 if eps is None else eps
    outside = (self < low).logical_or(self > 1 - low)
    return _fn.where(outside, math.nan if eps is None or eps < 0 else 0.0, grad / (self * (1 - self)))


derivative("logit", self=_logit)


# d/dx sin(y) / y = pi (y cos(y) - sin(y)) / y^2 with y = pi x. The slope is set to 0 where x y is 0, and not only where
# x is 0: the square of a small number underflows to 0, and so does the numerator.
def _sinc(grad: Any, self: Any) -> Any:
    y = self * math.pi
    square = self * self * math.pi
    slope = (y * y.cos() - y.sin()) / square
    return _fn.where(square == 0, 0.0, grad * slope)


derivative("sinc", self=_sinc)
