"""The generalized Pareto distribution.

Mirrors: torch/distributions/generalized_pareto.py
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

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    r"""The generalized Pareto distribution of what exceeds a threshold, with the density

    .. math::
        p(x) = \frac{1}{\sigma} (1 + \xi z)^{-\frac{1}{\xi} - 1}, \quad z = \frac{x - \mu}{\sigma}

    For :math:`\xi = 0` it is the limit, an exponential distribution.

    Args:
        loc: the threshold :math:`\mu`.
        scale: :math:`\sigma`, positive.
        concentration: :math:`\xi`; the larger, the heavier the tail. If it is negative, the support is bounded.
        validate_args: see ``Distribution``.

    Example:
        >>> d = torch.distributions.GeneralizedPareto(torch.tensor([0.0]), torch.tensor([1.0]), torch.tensor([0.5]))
        >>> d.mean, d.cdf(torch.tensor([2.0]))
        (tensor([2.]), tensor([0.7500]))

    Mirrors torch/distributions/generalized_pareto.py, ``GeneralizedPareto``.
    """

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(GeneralizedPareto, _instance)
        return self._expand_parameters(new, batch_shape, "loc", "scale", "concentration")

    def rsample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def _is_zero_and_safe(self) -> tuple[Tensor, Tensor]:
        """Where the concentration is 0, and the concentration with 1 there: no division by 0 reaches a gradient."""
        is_zero = torch.isclose(self.concentration, torch.zeros_like(self.concentration))
        return is_zero, torch.where(is_zero, torch.ones_like(self.concentration), self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        is_zero, concentration = self._is_zero_and_safe()
        y = 1 / concentration + torch.ones_like(z)
        where_nonzero = torch.where(y == 0, y, y * torch.log1p(concentration * z))
        return -self.scale.log() - torch.where(is_zero, z, where_nonzero)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability that a draw is larger than ``value``.

        Mirrors torch/distributions/generalized_pareto.py, ``GeneralizedPareto.log_survival_function``.
        """
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        is_zero, concentration = self._is_zero_and_safe()
        where_nonzero = -torch.log1p(concentration * z) / concentration
        return torch.where(is_zero, -z, where_nonzero)

    def log_cdf(self, value: Tensor) -> Tensor:
        """Return the logarithm of ``cdf``.

        Mirrors torch/distributions/generalized_pareto.py, ``GeneralizedPareto.log_cdf``.
        """
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        return torch.exp(self.log_cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        is_zero, concentration = self._is_zero_and_safe()
        log_u = torch.log1p(-value)
        where_nonzero = self.loc + self.scale / concentration * torch.expm1(-concentration * log_u)
        return torch.where(is_zero, self.loc - self.scale * log_u, where_nonzero)

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    @property
    def mean(self) -> Tensor:
        exists = self.concentration < 1
        concentration = torch.where(exists, self.concentration, 0.5)
        return torch.where(exists, self.loc + self.scale / (1 - concentration), math.nan)

    @property
    def variance(self) -> Tensor:
        exists = self.concentration < 0.5
        concentration = torch.where(exists, self.concentration, 0.25)
        result = self.scale**2 / ((1 - concentration) ** 2 * (1 - 2 * concentration))
        return torch.where(exists, result, math.nan)

    def entropy(self) -> Tensor:
        return torch.broadcast_to(torch.log(self.scale) + self.concentration + 1, self._batch_shape)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        bound = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, torch.where(self.concentration < 0, bound, math.inf))
