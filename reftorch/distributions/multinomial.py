"""The multinomial distribution.

Mirrors: torch/distributions/multinomial.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.binomial import Binomial
from reftorch.distributions.categorical import Categorical
from reftorch.distributions.distribution import Distribution
from reftorch.distributions.utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    r"""The multinomial distribution: how often each index was drawn in :math:`n` draws, with the probabilities

    .. math::
        P(x) = \frac{n!}{x_1! \cdots x_K!} \prod_i p_i^{x_i}

    Args:
        total_count: :math:`n`, one number for the whole batch.
        probs: (*, K), not negative. They are divided by their sum.
        logits: logarithms of weights, (*, K), instead of ``probs``.
        validate_args: see ``Distribution``.

    Raises:
        NotImplementedError: ``total_count`` is not an int.

    Example:
        >>> d = torch.distributions.Multinomial(10, torch.tensor([1.0, 1.0]))
        >>> d.mean, d.sample().sum(), d.log_prob(torch.tensor([5.0, 5.0])).exp()
        (tensor([5., 5.]), tensor(10.), tensor(0.2461))

    Mirrors torch/distributions/multinomial.py, ``Multinomial``.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        event_shape = self._categorical.param_shape[-1:]
        super().__init__(self._categorical.batch_shape, event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(Multinomial, _instance)
        new.total_count = self.total_count
        new._categorical = self._categorical.expand(batch_shape)
        return self._expand_parameters(new, batch_shape)

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities, (*, K)."""
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities, (*, K)."""
        return self._categorical.probs

    @property
    def param_shape(self) -> torch.Size:
        """The shape of the parameter, (*, K)."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        draws = self._categorical.sample((self.total_count, *sample_shape))
        draws = draws.permute((*range(1, draws.dim()), 0))  # (*sample_shape, *batch_shape, n)
        counts = torch.zeros(self._extended_shape(sample_shape), dtype=draws.dtype, device=draws.device)
        counts.scatter_add_(-1, draws, torch.ones_like(draws))
        return counts.type_as(self.probs)

    def entropy(self) -> Tensor:
        n = torch.tensor(self.total_count)
        term1 = n * self._categorical.entropy() - torch.lgamma(n + 1)
        support = self._binomial.enumerate_support(expand=False)[1:]  # each count is binomially distributed
        binomial_probs = torch.exp(self._binomial.log_prob(support))
        term2 = (binomial_probs * torch.lgamma(support + 1)).sum([0, -1])
        return term1 + term2

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.clone(memory_format=torch.contiguous_format)
        logits[(value == 0) & (logits == -math.inf)] = 0  # 0 * -inf would be NaN
        log_factorial_n = torch.lgamma(value.sum(-1) + 1)
        log_factorial_xs = torch.lgamma(value + 1).sum(-1)
        return log_factorial_n - log_factorial_xs + (logits * value).sum(-1)
