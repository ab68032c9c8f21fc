"""Relaxations of the Bernoulli distribution, whose samples have gradients.

Mirrors: torch/distributions/relaxed_bernoulli.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.distribution import Distribution
from reftorch.distributions.transformed_distribution import TransformedDistribution
from reftorch.distributions.transforms import SigmoidTransform
from reftorch.distributions.utils import (
    _check_one_is_given,
    broadcast_all,
    clamp_probs,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)
from reftorch.types import Number

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(Distribution):
    r"""The logits of a relaxed Bernoulli variable: :math:`\frac{l + \log u - \log(1 - u)}{t}` with :math:`u` uniform.

    The density of ``RelaxedBernoulli`` underflows near 0 and 1; that of its logits does not.

    Args:
        temperature: :math:`t`, a positive tensor.
        probs: the probability of 1, in [0, 1].
        logits: the log-odds :math:`l`, instead of ``probs``.
        validate_args: see ``Distribution``.

    Raises:
        ValueError: not exactly one of ``probs`` and ``logits`` is given.

    Example:
        >>> from reftorch.distributions.relaxed_bernoulli import LogitRelaxedBernoulli
        >>> LogitRelaxedBernoulli(torch.tensor(1.0), torch.tensor([0.5])).log_prob(torch.tensor([0.0]))
        tensor([-1.3863])

    Mirrors torch/distributions/relaxed_bernoulli.py, ``LogitRelaxedBernoulli``.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | Number | None = None,
        logits: Tensor | Number | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        _check_one_is_given(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        self._param = self.probs if probs is not None else self.logits
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(LogitRelaxedBernoulli, _instance)
        new.temperature = self.temperature
        self._expand_parameters(new, batch_shape, "probs", "logits")
        new._param = new.__dict__["probs" if "probs" in new.__dict__ else "logits"]
        return new

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)

    @lazy_property
    def logits(self) -> Tensor:
        """The log-odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probability of 1."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> torch.Size:
        """The shape of the parameter."""
        return self._param.size()

    def rsample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        uniforms = clamp_probs(torch.rand(shape, dtype=probs.dtype, device=probs.device))
        return (uniforms.log() - (-uniforms).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        diff = logits - value.mul(self.temperature)
        return self.temperature.log() + diff - 2 * diff.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    r"""A relaxed Bernoulli variable, in (0, 1): the lower the temperature, the closer to 0 or 1.

    Its samples have gradients, unlike those of ``Bernoulli``.

    Args:
        temperature: a positive tensor.
        probs: the probability of 1, in [0, 1].
        logits: the log-odds, instead of ``probs``.
        validate_args: see ``Distribution``.

    Raises:
        ValueError: not exactly one of ``probs`` and ``logits`` is given.

    Example:
        >>> d = torch.distributions.RelaxedBernoulli(torch.tensor(0.1), torch.tensor([0.2, 0.8]))
        >>> d.has_rsample, d.sample((3,)).shape
        (True, torch.Size([3, 2]))

    Mirrors torch/distributions/relaxed_bernoulli.py, ``RelaxedBernoulli``.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | Number | None = None,
        logits: Tensor | Number | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base_dist = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base_dist, SigmoidTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(RelaxedBernoulli, _instance)
        return super().expand(batch_shape, _instance=new)

    @property
    def temperature(self) -> Tensor:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """The log-odds."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The probability of 1."""
        return self.base_dist.probs
