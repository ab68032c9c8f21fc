"""The uniform distribution.

Mirrors: torch/distributions/uniform.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.distribution import Distribution
from reftorch.distributions.utils import broadcast_all

__all__ = ["Uniform"]


class Uniform(Distribution):
    r"""The uniform distribution on :math:`[a, b)`, with the density :math:`\frac{1}{b - a}`.

    Args:
        low: :math:`a`.
        high: :math:`b`, larger than :math:`a`.
        validate_args: see ``Distribution``.

    Example:
        >>> d = torch.distributions.Uniform(0.0, 4.0)
        >>> d.mean, d.cdf(torch.tensor([1.0])), d.entropy()
        (tensor(2.), tensor([0.2500]), tensor(1.3863))

    Mirrors torch/distributions/uniform.py, ``Uniform``.
    """

    has_rsample = True

    def __init__(self, low: Tensor | float, high: Tensor | float, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.size(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(Uniform, _instance)
        return self._expand_parameters(new, batch_shape, "low", "high")

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return math.nan * self.high  # all values are equally probable

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        rand = torch.rand(self._extended_shape(sample_shape), dtype=self.low.dtype, device=self.low.device)
        return self.low + rand * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        above = self.low.le(value).type_as(self.low)
        below = self.high.gt(value).type_as(self.low)
        return torch.log(above.mul(below)) - torch.log(self.high - self.low)  # log(0) outside

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return torch.log(self.high - self.low)
