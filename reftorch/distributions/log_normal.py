"""The log-normal distribution.

Mirrors: torch/distributions/log_normal.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.normal import Normal
from reftorch.distributions.transformed_distribution import TransformedDistribution
from reftorch.distributions.transforms import ExpTransform

__all__ = ["LogNormal"]


class LogNormal(TransformedDistribution):
    r"""The log-normal distribution: :math:`e^x`, where :math:`x` is normal, with the density

    .. math::
        p(y) = \frac{1}{y \sigma \sqrt{2 \pi}} \exp\left(-\frac{(\log y - \mu)^2}{2 \sigma^2}\right)

    Args:
        loc: the mean :math:`\mu` of the logarithm.
        scale: the standard deviation :math:`\sigma` of the logarithm, positive.
        validate_args: see ``Distribution``.

    Example:
        >>> d = torch.distributions.LogNormal(torch.tensor([0.0]), torch.tensor([1.0]))
        >>> d.mean, d.log_prob(torch.tensor([1.0]))
        (tensor([1.6487]), tensor([-0.9189]))

    Mirrors torch/distributions/log_normal.py, ``LogNormal``.
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        base_dist = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base_dist, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(LogNormal, _instance)
        return super().expand(batch_shape, _instance=new)

    @property
    def loc(self) -> Tensor:
        """The mean of the logarithm."""
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the logarithm."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        scale_sq = self.scale.pow(2)
        return scale_sq.expm1() * (2 * self.loc + scale_sq).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc
