"""The exponential distribution.

Mirrors: torch/distributions/exponential.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.exp_family import ExponentialFamily
from reftorch.distributions.utils import broadcast_all

__all__ = ["Exponential"]


class Exponential(ExponentialFamily):
    r"""The exponential distribution of waiting times, with the density :math:`p(x) = \lambda e^{-\lambda x}`.

    Args:
        rate: :math:`\lambda`, positive; the mean is :math:`1 / \lambda`.
        validate_args: see ``Distribution``.

    Example:
        >>> d = torch.distributions.Exponential(torch.tensor([2.0]))
        >>> d.mean, d.cdf(torch.tensor([0.5]))
        (tensor([0.5000]), tensor([0.6321]))

    Mirrors torch/distributions/exponential.py, ``Exponential``.
    """

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate: Tensor | float, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(Exponential, _instance)
        return self._expand_parameters(new, batch_shape, "rate")

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        return torch.zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return torch.empty(shape, dtype=self.rate.dtype, device=self.rate.device).exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return 1 - torch.exp(-self.rate * value)

    def icdf(self, value: Tensor) -> Tensor:
        return -torch.log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        return 1.0 - torch.log(self.rate)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return -torch.log(-x)
