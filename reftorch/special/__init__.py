"""Special functions, under the names that scipy.special gives them.

Mirrors: torch/special/__init__.py
Leaves out: what no model uses: airy functions, Bessel functions of the second kind, orthogonal polynomials.

Example:
    >>> import reftorch as torch
    >>> torch.special.expit(torch.tensor([0.0]))
    tensor([0.5000])
"""

from typing import Any

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


def __getattr__(name: str) -> Any:
    if name in _OPS:
        return getattr(_VF, _OPS[name])
    raise AttributeError(f"module 'reftorch.special' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*globals(), *_OPS]
