"""The Kumaraswamy distribution.

Mirrors: torch/distributions/kumaraswamy.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.transformed_distribution import TransformedDistribution
from reftorch.distributions.transforms import AffineTransform, PowerTransform
from reftorch.distributions.uniform import Uniform
from reftorch.distributions.utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


def _moments(a: Tensor, b: Tensor, n: int) -> Tensor:
    """Return the mean of :math:`x^n`."""
    arg1 = 1 + n / a
    return b * torch.exp(torch.lgamma(arg1) + torch.lgamma(b) - torch.lgamma(arg1 + b))


class Kumaraswamy(TransformedDistribution):
    r"""The Kumaraswamy distribution on (0, 1), with the density :math:`p(x) = a b x^{a - 1} (1 - x^a)^{b - 1}`.

    It resembles the beta distribution, but has a cumulative distribution function in closed form,
    :math:`1 - (1 - x^a)^b`.

    Args:
        concentration1: :math:`a`, positive.
        concentration0: :math:`b`, positive.
        validate_args: see ``Distribution``.

    Example:
        >>> d = torch.distributions.Kumaraswamy(torch.tensor([1.0]), torch.tensor([1.0]))  # uniform
        >>> d.mean, d.log_prob(torch.tensor([0.25]))
        (tensor([0.5000]), tensor([0.]))

    Mirrors torch/distributions/kumaraswamy.py, ``Kumaraswamy``.
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        concentration1: Tensor | float,
        concentration0: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base_dist = Uniform(
            torch.full_like(self.concentration0, 0),
            torch.full_like(self.concentration0, 1),
            validate_args=validate_args,
        )
        transforms = [  # (1 - u^(1/b))^(1/a)
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base_dist, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(Kumaraswamy, _instance)
        new.concentration1 = self.concentration1.expand(torch.Size(batch_shape))
        new.concentration0 = self.concentration0.expand(torch.Size(batch_shape))
        return super().expand(batch_shape, _instance=new)

    @property
    def mean(self) -> Tensor:
        return _moments(self.concentration1, self.concentration0, 1)

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        log_mode = b.reciprocal() * (-b).log1p() - (-b * a).log1p()
        log_mode[(b < 1) | (a < 1)] = math.nan
        return log_mode.exp()

    @property
    def variance(self) -> Tensor:
        return _moments(self.concentration1, self.concentration0, 2) - torch.pow(self.mean, 2)

    def entropy(self) -> Tensor:
        t1 = 1 - self.concentration1.reciprocal()
        t0 = 1 - self.concentration0.reciprocal()
        harmonic_number = torch.digamma(self.concentration0 + 1) + euler_constant
        return t0 + t1 * harmonic_number - torch.log(self.concentration1) - torch.log(self.concentration0)
