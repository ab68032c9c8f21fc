"""The geometric distribution.

Mirrors: torch/distributions/geometric.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.distribution import Distribution
from reftorch.distributions.utils import (
    _check_one_is_given,
    broadcast_all,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)
from reftorch.nn.functional import binary_cross_entropy_with_logits
from reftorch.types import Number

__all__ = ["Geometric"]


class Geometric(Distribution):
    r"""The geometric distribution of the number of failures before the first success, with the probabilities

    .. math::
        P(k) = (1 - p)^k p

    ``Tensor.geometric_`` counts the trials, success included, and is larger by one.

    Args:
        probs: :math:`p`, the probability of success, in (0, 1].
        logits: the log-odds of success, instead of ``probs``.
        validate_args: see ``Distribution``.

    Raises:
        ValueError: not exactly one of ``probs`` and ``logits`` is given, or a probability is not positive.

    Example:
        >>> d = torch.distributions.Geometric(torch.tensor([0.25]))
        >>> d.mean, d.log_prob(torch.tensor([1.0])).exp()
        (tensor([3.]), tensor([0.1875]))

    Mirrors torch/distributions/geometric.py, ``Geometric``.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

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
        parameter = self.probs if probs is not None else self.logits
        super().__init__(parameter.size(), validate_args=validate_args)
        if self._validate_args and probs is not None:
            value = self.probs
            valid = value > 0
            if not valid.all():
                raise ValueError(
                    f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) "
                    f"of distribution {self!r} to be positive but found invalid values:\n{value.data[~valid]}"
                )

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(Geometric, _instance)
        return self._expand_parameters(new, batch_shape, "probs", "logits")

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return torch.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    @lazy_property
    def logits(self) -> Tensor:
        """The log-odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probability of success."""
        return logits_to_probs(self.logits, is_binary=True)

    def sample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        tiny = torch.finfo(self.probs.dtype).tiny
        with torch.no_grad():
            u = torch.empty(shape, dtype=self.probs.dtype, device=self.probs.device).uniform_(tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.clone(memory_format=torch.contiguous_format)
        probs[(probs == 1) & (value == 0)] = 0  # otherwise 0 * log(0), which is NaN
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
