"""The inverse gamma distribution.

Mirrors: torch/distributions/inverse_gamma.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.gamma import Gamma
from reftorch.distributions.transformed_distribution import TransformedDistribution
from reftorch.distributions.transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    r"""The inverse gamma distribution: :math:`1 / x`, where :math:`x` is gamma-distributed, with the density

    .. math::
        p(y) = \frac{\beta^\alpha}{\Gamma(\alpha)} y^{-\alpha - 1} e^{-\beta / y}

    It is the usual prior of a variance.

    Args:
        concentration: the shape parameter :math:`\alpha`, positive.
        rate: :math:`\beta`, positive.
        validate_args: see ``Distribution``.

    Example:
        >>> d = torch.distributions.InverseGamma(torch.tensor([3.0]), torch.tensor([4.0]))
        >>> d.mean, d.mode
        (tensor([2.]), tensor([1.]))

    Mirrors torch/distributions/inverse_gamma.py, ``InverseGamma``.
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None = None) -> None:
        base_dist = Gamma(concentration, rate, validate_args=validate_args)
        minus_one = -base_dist.rate.new_ones(())
        super().__init__(base_dist, PowerTransform(minus_one), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(InverseGamma, _instance)
        return super().expand(batch_shape, _instance=new)

    @property
    def concentration(self) -> Tensor:
        """The shape parameter."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """The rate of the gamma distribution."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        result = self.rate / (self.concentration - 1)
        return torch.where(self.concentration > 1, result, math.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        result = self.rate.square() / ((self.concentration - 1).square() * (self.concentration - 2))
        return torch.where(self.concentration > 2, result, math.inf)

    def entropy(self) -> Tensor:
        return (
            self.concentration
            + self.rate.log()
            + self.concentration.lgamma()
            - (1 + self.concentration) * self.concentration.digamma()
        )
