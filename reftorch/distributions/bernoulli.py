"""The Bernoulli distribution.

Mirrors: torch/distributions/bernoulli.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.exp_family import ExponentialFamily
from reftorch.distributions.utils import (
    _check_one_is_given,
    broadcast_all,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)
from reftorch.nn.functional import binary_cross_entropy_with_logits
from reftorch.types import Number

__all__ = ["Bernoulli"]


class Bernoulli(ExponentialFamily):
    r"""The Bernoulli distribution: 1 with probability :math:`p`, and 0 otherwise.

    Args:
        probs: :math:`p`, in [0, 1].
        logits: the log-odds :math:`\log \frac{p}{1 - p}`, instead of ``probs``.
        validate_args: see ``Distribution``.

    Raises:
        ValueError: not exactly one of ``probs`` and ``logits`` is given.

    Example:
        >>> d = torch.distributions.Bernoulli(torch.tensor([0.25]))
        >>> d.log_prob(torch.tensor([1.0])).exp(), d.variance, d.enumerate_support()
        (tensor([0.2500]), tensor([0.1875]), tensor([[0.],
                [1.]]))

    Mirrors torch/distributions/bernoulli.py, ``Bernoulli``.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Tensor | Number | None = None,
        logits: Tensor | Number | None = None,
        validate_args: bool | None = None,
    ) -> None:
        _check_one_is_given(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        self._param = self.probs if probs is not None else self.logits
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(Bernoulli, _instance)
        self._expand_parameters(new, batch_shape, "probs", "logits")
        new._param = new.__dict__["probs" if "probs" in new.__dict__ else "logits"]
        return new

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        mode = (self.probs >= 0.5).to(self.probs)
        mode[self.probs == 0.5] = math.nan  # both values are equally probable
        return mode

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

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

    def sample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = torch.arange(2, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (torch.logit(self.probs),)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return torch.log1p(torch.exp(x))
