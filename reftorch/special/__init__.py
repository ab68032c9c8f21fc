"""Special functions, with the names that scipy.special uses.

Mirrors: torch/special/__init__.py

Example:
    >>> torch.special.expit(torch.tensor([0.0]))
    tensor([0.5000])
"""

from typing import TYPE_CHECKING, Any

from reftorch import _C, _VF
from reftorch._api import getattr_of as _getattr_of

_special = _C._special

# The keys are the names here; the values are the names of the ops.
_OPS = {
    "airy_ai": "special_airy_ai",
    "bessel_j0": "special_bessel_j0",
    "bessel_j1": "special_bessel_j1",
    "bessel_y0": "special_bessel_y0",
    "bessel_y1": "special_bessel_y1",
    "chebyshev_polynomial_t": "special_chebyshev_polynomial_t",
    "chebyshev_polynomial_u": "special_chebyshev_polynomial_u",
    "chebyshev_polynomial_v": "special_chebyshev_polynomial_v",
    "chebyshev_polynomial_w": "special_chebyshev_polynomial_w",
    "digamma": "digamma",
    "entr": "special_entr",
    "erf": "erf",
    "erfc": "erfc",
    "erfcx": "special_erfcx",
    "erfinv": "erfinv",
    "exp2": "exp2",
    "expit": "sigmoid",
    "expm1": "expm1",
    "gammainc": "igamma",
    "gammaincc": "igammac",
    "gammaln": "lgamma",
    "hermite_polynomial_h": "special_hermite_polynomial_h",
    "hermite_polynomial_he": "special_hermite_polynomial_he",
    "i0": "i0",
    "i0e": "special_i0e",
    "i1": "special_i1",
    "i1e": "special_i1e",
    "laguerre_polynomial_l": "special_laguerre_polynomial_l",
    "legendre_polynomial_p": "special_legendre_polynomial_p",
    "log1p": "log1p",
    "log_ndtr": "special_log_ndtr",
    "log_softmax": "log_softmax",
    "logit": "logit",
    "logsumexp": "logsumexp",
    "modified_bessel_i0": "special_modified_bessel_i0",
    "modified_bessel_i1": "special_modified_bessel_i1",
    "modified_bessel_k0": "special_modified_bessel_k0",
    "modified_bessel_k1": "special_modified_bessel_k1",
    "multigammaln": "mvlgamma",
    "ndtr": "special_ndtr",
    "ndtri": "special_ndtri",
    "polygamma": "polygamma",
    "psi": "digamma",
    "round": "round",
    "scaled_modified_bessel_k0": "special_scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1": "special_scaled_modified_bessel_k1",
    "shifted_chebyshev_polynomial_t": "special_shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u": "special_shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v": "special_shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w": "special_shifted_chebyshev_polynomial_w",
    "sinc": "sinc",
    "softmax": "softmax",
    "spherical_bessel_j0": "special_spherical_bessel_j0",
    "xlog1py": "special_xlog1py",
    "xlogy": "xlogy",
    "zeta": "special_zeta",
}

__all__ = list(_OPS)


if TYPE_CHECKING:  # the names for type checkers and editors
    airy_ai = _special.special_airy_ai
    bessel_j0 = _special.special_bessel_j0
    bessel_j1 = _special.special_bessel_j1
    bessel_y0 = _special.special_bessel_y0
    bessel_y1 = _special.special_bessel_y1
    chebyshev_polynomial_t = _special.special_chebyshev_polynomial_t
    chebyshev_polynomial_u = _special.special_chebyshev_polynomial_u
    chebyshev_polynomial_v = _special.special_chebyshev_polynomial_v
    chebyshev_polynomial_w = _special.special_chebyshev_polynomial_w
    digamma = _VF.digamma
    entr = _special.special_entr
    erf = _VF.erf
    erfc = _VF.erfc
    erfcx = _special.special_erfcx
    erfinv = _VF.erfinv
    exp2 = _VF.exp2
    expit = _VF.sigmoid
    expm1 = _VF.expm1
    gammainc = _VF.igamma
    gammaincc = _VF.igammac
    gammaln = _VF.lgamma
    hermite_polynomial_h = _special.special_hermite_polynomial_h
    hermite_polynomial_he = _special.special_hermite_polynomial_he
    i0 = _VF.i0
    i0e = _special.special_i0e
    i1 = _special.special_i1
    i1e = _special.special_i1e
    laguerre_polynomial_l = _special.special_laguerre_polynomial_l
    legendre_polynomial_p = _special.special_legendre_polynomial_p
    log1p = _VF.log1p
    log_ndtr = _special.special_log_ndtr
    log_softmax = _VF.log_softmax
    logit = _VF.logit
    logsumexp = _VF.logsumexp
    modified_bessel_i0 = _special.special_modified_bessel_i0
    modified_bessel_i1 = _special.special_modified_bessel_i1
    modified_bessel_k0 = _special.special_modified_bessel_k0
    modified_bessel_k1 = _special.special_modified_bessel_k1
    multigammaln = _VF.mvlgamma
    ndtr = _special.special_ndtr
    ndtri = _special.special_ndtri
    polygamma = _VF.polygamma
    psi = _VF.digamma
    round = _VF.round
    scaled_modified_bessel_k0 = _special.special_scaled_modified_bessel_k0
    scaled_modified_bessel_k1 = _special.special_scaled_modified_bessel_k1
    shifted_chebyshev_polynomial_t = _special.special_shifted_chebyshev_polynomial_t
    shifted_chebyshev_polynomial_u = _special.special_shifted_chebyshev_polynomial_u
    shifted_chebyshev_polynomial_v = _special.special_shifted_chebyshev_polynomial_v
    shifted_chebyshev_polynomial_w = _special.special_shifted_chebyshev_polynomial_w
    sinc = _VF.sinc
    softmax = _VF.softmax
    spherical_bessel_j0 = _special.special_spherical_bessel_j0
    xlog1py = _special.special_xlog1py
    xlogy = _VF.xlogy
    zeta = _special.special_zeta
else:
    _missing_name = _getattr_of("reftorch.special")

    def __getattr__(name: str) -> Any:
        if name in _OPS:
            op = _OPS[name]
            return getattr(_special if op.startswith("special_") else _VF, op)
        return _missing_name(name)


def __dir__() -> list[str]:
    return list(_OPS)
