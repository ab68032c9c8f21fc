"""Relaxations of the categorical distribution, whose samples have gradients.

Mirrors: torch/distributions/relaxed_categorical.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.categorical import Categorical
from reftorch.distributions.distribution import Distribution
from reftorch.distributions.transformed_distribution import TransformedDistribution
from reftorch.distributions.transforms import ExpTransform
from reftorch.distributions.utils import broadcast_all, clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(Distribution):
    r"""The logarithms of a relaxed one-hot vector: the log-softmax of :math:`(l + g) / t`, where :math:`g` is Gumbel.

    The density of ``RelaxedOneHotCategorical`` underflows near the corners of the simplex; that of its logarithms does
    not.

    Args:
        temperature: :math:`t`, a positive tensor.
        probs: (*, K), not negative. They are divided by their sum.
        logits: logarithms of weights :math:`l`, (*, K), instead of ``probs``.
        validate_args: see ``Distribution``.

    Example:
        >>> from reftorch.distributions.relaxed_categorical import ExpRelaxedCategorical
        >>> d = ExpRelaxedCategorical(torch.tensor(0.5), torch.tensor([0.5, 0.5]))
        >>> d.event_shape, d.sample((5,)).shape
        (torch.Size([2]), torch.Size([5, 2]))

    Mirrors torch/distributions/relaxed_categorical.py, ``ExpRelaxedCategorical``.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector  # the logarithms of the simplex are a part of it
    has_rsample = True

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        event_shape = self._categorical.param_shape[-1:]
        super().__init__(self._categorical.batch_shape, event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(ExpRelaxedCategorical, _instance)
        new.temperature = self.temperature
        new._categorical = self._categorical.expand(batch_shape)
        return self._expand_parameters(new, batch_shape)

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)

    @property
    def param_shape(self) -> torch.Size:
        """The shape of the parameter, (*, K)."""
        return self._categorical.param_shape

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities, (*, K)."""
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities, (*, K)."""
        return self._categorical.probs

    def rsample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        uniforms = clamp_probs(torch.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        gumbels = -((-(uniforms.log())).log())
        scores = (self.logits + gumbels) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        K = self._categorical._num_events
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        log_scale = torch.full_like(self.temperature, float(K)).lgamma() - self.temperature.log().mul(-(K - 1))
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + log_scale


class RelaxedOneHotCategorical(TransformedDistribution):
    r"""A relaxed one-hot vector (Gumbel-softmax): the lower the temperature, the closer to a corner of the simplex.

    Its samples have gradients, unlike those of ``OneHotCategorical``.

    Args:
        temperature: a positive tensor.
        probs: (*, K), not negative. They are divided by their sum.
        logits: logarithms of weights, (*, K), instead of ``probs``.
        validate_args: see ``Distribution``.

    Example:
        >>> logits = torch.zeros(3, requires_grad=True)
        >>> sample = torch.distributions.RelaxedOneHotCategorical(torch.tensor(0.5), logits=logits).rsample()
        >>> sample.shape, sample.requires_grad
        (torch.Size([3]), True)

    Mirrors torch/distributions/relaxed_categorical.py, ``RelaxedOneHotCategorical``.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base_dist = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base_dist, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(RelaxedOneHotCategorical, _instance)
        return super().expand(batch_shape, _instance=new)

    @property
    def temperature(self) -> Tensor:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities, (*, K)."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities, (*, K)."""
        return self.base_dist.probs
