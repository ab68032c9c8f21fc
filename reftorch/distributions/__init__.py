"""Probability distributions: draw samples, compute densities, and differentiate both.

Two ways lead from a random choice to the parameters of its distribution, because a draw itself has no derivative:

- **The score function** (REINFORCE). The gradient of an expected reward is
  :math:`\\nabla E[r(x)] = E[r(x) \\nabla \\log p(x)]`, so ``-log_prob(x) * reward`` is a loss for it. Any distribution
  with parameters that require a gradient serves::

      distribution = Categorical(logits=policy(state))
      action = distribution.sample()
      loss = -distribution.log_prob(action) * reward(action)

- **The reparameterization trick.** ``rsample`` computes a sample as a differentiable function of the parameters and of
  random numbers without parameters, so the gradient flows through the sample; ``has_rsample`` says whether a family
  can do so. The variance of this gradient is usually much smaller::

      z = Normal(mean, std).rsample()
      loss = -decoder_log_prob(z)

Mirrors: torch/distributions/__init__.py

Example:
    >>> from reftorch.distributions import Normal, kl_divergence
    >>> posterior = Normal(torch.tensor([1.0], requires_grad=True), torch.tensor([1.0]))
    >>> kl_divergence(posterior, Normal(0.0, 1.0)).backward()
    >>> posterior.loc.grad
    tensor([1.])
"""

from reftorch.distributions import constraints, transforms  # noqa: F401
from reftorch.distributions.bernoulli import Bernoulli
from reftorch.distributions.beta import Beta
from reftorch.distributions.binomial import Binomial
from reftorch.distributions.categorical import Categorical
from reftorch.distributions.cauchy import Cauchy
from reftorch.distributions.chi2 import Chi2
from reftorch.distributions.constraint_registry import biject_to, transform_to
from reftorch.distributions.continuous_bernoulli import ContinuousBernoulli
from reftorch.distributions.dirichlet import Dirichlet
from reftorch.distributions.distribution import Distribution
from reftorch.distributions.exp_family import ExponentialFamily
from reftorch.distributions.exponential import Exponential
from reftorch.distributions.fishersnedecor import FisherSnedecor
from reftorch.distributions.gamma import Gamma
from reftorch.distributions.generalized_pareto import GeneralizedPareto
from reftorch.distributions.geometric import Geometric
from reftorch.distributions.gumbel import Gumbel
from reftorch.distributions.half_cauchy import HalfCauchy
from reftorch.distributions.half_normal import HalfNormal
from reftorch.distributions.independent import Independent
from reftorch.distributions.inverse_gamma import InverseGamma
from reftorch.distributions.kl import kl_divergence, register_kl
from reftorch.distributions.kumaraswamy import Kumaraswamy
from reftorch.distributions.laplace import Laplace
from reftorch.distributions.lkj_cholesky import LKJCholesky
from reftorch.distributions.log_normal import LogNormal
from reftorch.distributions.logistic_normal import LogisticNormal
from reftorch.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from reftorch.distributions.mixture_same_family import MixtureSameFamily
from reftorch.distributions.multinomial import Multinomial
from reftorch.distributions.multivariate_normal import MultivariateNormal
from reftorch.distributions.negative_binomial import NegativeBinomial
from reftorch.distributions.normal import Normal
from reftorch.distributions.one_hot_categorical import OneHotCategorical, OneHotCategoricalStraightThrough
from reftorch.distributions.pareto import Pareto
from reftorch.distributions.poisson import Poisson
from reftorch.distributions.relaxed_bernoulli import RelaxedBernoulli
from reftorch.distributions.relaxed_categorical import RelaxedOneHotCategorical
from reftorch.distributions.studentT import StudentT
from reftorch.distributions.transformed_distribution import TransformedDistribution
from reftorch.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)
from reftorch.distributions.uniform import Uniform
from reftorch.distributions.von_mises import VonMises
from reftorch.distributions.weibull import Weibull
from reftorch.distributions.wishart import Wishart

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "CatTransform",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "ContinuousBernoulli",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "IndependentTransform",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "LowerCholeskyTransform",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "identity_transform",
    "kl_divergence",
    "register_kl",
    "transform_to",
]
