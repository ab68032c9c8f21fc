"""Pairs of families whose divergence is infinite, because p can always draw values that q cannot.

Mirrors: torch/distributions/kl.py
"""

import math

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions.bernoulli import Bernoulli
from reftorch.distributions.beta import Beta
from reftorch.distributions.binomial import Binomial
from reftorch.distributions.continuous_bernoulli import ContinuousBernoulli
from reftorch.distributions.distribution import Distribution
from reftorch.distributions.exponential import Exponential
from reftorch.distributions.gamma import Gamma
from reftorch.distributions.gumbel import Gumbel
from reftorch.distributions.kl.registry import register_kl
from reftorch.distributions.laplace import Laplace
from reftorch.distributions.normal import Normal
from reftorch.distributions.pareto import Pareto
from reftorch.distributions.poisson import Poisson
from reftorch.distributions.uniform import Uniform

# p, the parameter of p that gives the result its shape, and the families q that lack values of p
_INFINITE: list[tuple[type[Distribution], str, list[type[Distribution]]]] = [
    (Beta, "concentration1", [Pareto]),
    (ContinuousBernoulli, "probs", [Pareto]),
    (Exponential, "rate", [Beta, ContinuousBernoulli, Pareto, Uniform]),
    (Gamma, "concentration", [Beta, ContinuousBernoulli, Pareto, Uniform]),
    (Gumbel, "loc", [Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform]),
    (Laplace, "loc", [Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform]),
    (Normal, "loc", [Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform]),
    (Pareto, "scale", [Beta, ContinuousBernoulli, Uniform]),
    (Poisson, "rate", [Bernoulli, Binomial]),
]


def _register(family: type[Distribution], parameter: str, others: list[type[Distribution]]) -> None:
    def kl(p: Distribution, q: Distribution) -> Tensor:
        return torch.full_like(getattr(p, parameter), math.inf)

    for other in others:
        register_kl(family, other)(kl)


for _row in _INFINITE:
    _register(*_row)
