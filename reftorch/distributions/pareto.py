"""The Pareto distribution.

Mirrors: torch/distributions/pareto.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.exponential import Exponential
from reftorch.distributions.transformed_distribution import TransformedDistribution
from reftorch.distributions.transforms import AffineTransform, ExpTransform
from reftorch.distributions.utils import broadcast_all

__all__ = ["Pareto"]


class Pareto(TransformedDistribution):
    r"""The Pareto distribution, which has a heavy tail, with the density

    .. math::
        p(x) = \frac{\alpha x_m^\alpha}{x^{\alpha + 1}}, \quad x \ge x_m

    Args:
        scale: the least value :math:`x_m`, positive.
        alpha: the exponent :math:`\alpha`, positive. The mean is infinite for :math:`\alpha \le 1`.
        validate_args: see ``Distribution``.

    Example:
        >>> d = torch.distributions.Pareto(torch.tensor([1.0]), torch.tensor([3.0]))
        >>> d.mean, d.cdf(torch.tensor([2.0]))
        (tensor([1.5000]), tensor([0.8750]))

    Mirrors torch/distributions/pareto.py, ``Pareto``.
    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Tensor | float, alpha: Tensor | float, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base_dist = Exponential(self.alpha, validate_args=validate_args)
        transforms = [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base_dist, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(Pareto, _instance)
        new.scale = self.scale.expand(torch.Size(batch_shape))
        new.alpha = self.alpha.expand(torch.Size(batch_shape))
        return super().expand(batch_shape, _instance=new)

    @property
    def mean(self) -> Tensor:
        a = self.alpha.clamp(min=1)  # infinite below
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        a = self.alpha.clamp(min=2)  # infinite below
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())
