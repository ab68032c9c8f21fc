"""Special functions, under the names that scipy.special gives them.

Mirrors: torch/special/__init__.py
Leaves out: what no model uses: airy functions, Bessel functions of the second kind, orthogonal polynomials.

Example:
    >>> import reftorch as torch
    >>> torch.special.expit(torch.tensor([0.0]))
    tensor([0.5000])
"""

from typing import TYPE_CHECKING, Any

from reftorch import _VF

# The name here, and the op's own.
_OPS = {
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
    "i0": "i0",
    "i0e": "special_i0e",
    "i1": "special_i1",
    "i1e": "special_i1e",
    "log1p": "log1p",
    "log_ndtr": "special_log_ndtr",
    "log_softmax": "log_softmax",
    "logit": "logit",
    "logsumexp": "logsumexp",
    "multigammaln": "mvlgamma",
    "ndtr": "special_ndtr",
    "ndtri": "special_ndtri",
    "polygamma": "polygamma",
    "psi": "digamma",
    "round": "round",
    "sinc": "sinc",
    "softmax": "softmax",
    "xlog1py": "special_xlog1py",
    "xlogy": "xlogy",
    "zeta": "special_zeta",
}

__all__ = list(_OPS)


if TYPE_CHECKING:  # the same for type checkers and editors
    digamma = _VF.digamma
    entr = _VF.special_entr
    erf = _VF.erf
    erfc = _VF.erfc
    erfcx = _VF.special_erfcx
    erfinv = _VF.erfinv
    exp2 = _VF.exp2
    expit = _VF.sigmoid
    expm1 = _VF.expm1
    gammainc = _VF.igamma
    gammaincc = _VF.igammac
    gammaln = _VF.lgamma
    i0 = _VF.i0
    i0e = _VF.special_i0e
    i1 = _VF.special_i1
    i1e = _VF.special_i1e
    log1p = _VF.log1p
    log_ndtr = _VF.special_log_ndtr
    log_softmax = _VF.log_softmax
    logit = _VF.logit
    logsumexp = _VF.logsumexp
    multigammaln = _VF.mvlgamma
    ndtr = _VF.special_ndtr
    ndtri = _VF.special_ndtri
    polygamma = _VF.polygamma
    psi = _VF.digamma
    round = _VF.round
    sinc = _VF.sinc
    softmax = _VF.softmax
    xlog1py = _VF.special_xlog1py
    xlogy = _VF.xlogy
    zeta = _VF.special_zeta
else:

    def __getattr__(name: str) -> Any:
        if name in _OPS:
            return getattr(_VF, _OPS[name])
        raise AttributeError(f"module 'reftorch.special' has no attribute '{name}'")


def __dir__() -> list[str]:
    return list(_OPS)
