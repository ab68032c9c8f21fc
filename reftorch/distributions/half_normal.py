"""The half-normal distribution.

Mirrors: torch/distributions/half_normal.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.normal import Normal
from reftorch.distributions.transformed_distribution import TransformedDistribution
from reftorch.distributions.transforms import AbsTransform

__all__ = ["HalfNormal"]


class HalfNormal(TransformedDistribution):
    r"""The half-normal distribution: :math:`|x|`, where :math:`x` is normal with the median 0, with the density

    .. math::
        p(x) = \frac{\sqrt 2}{\sigma \sqrt \pi} \exp\left(-\frac{x^2}{2 \sigma^2}\right), \quad x \ge 0

    Args:
        scale: the scale of the normal distribution, positive.
        validate_args: see ``Distribution``.

    Example:
        >>> torch.distributions.HalfNormal(torch.tensor([1.0])).mean
        tensor([0.7979])

    Mirrors torch/distributions/half_normal.py, ``HalfNormal``.
    """

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        base_dist = Normal(0, scale, validate_args=False)
        super().__init__(base_dist, AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(HalfNormal, _instance)
        return super().expand(batch_shape, _instance=new)

    @property
    def scale(self) -> Tensor:
        """The scale of the normal distribution."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Tensor:
        return torch.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        log_prob = self.base_dist.log_prob(value) + math.log(2)
        return torch.where(value >= 0, log_prob, -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Tensor) -> Tensor:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
