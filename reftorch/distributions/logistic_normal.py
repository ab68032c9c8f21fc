"""The logistic-normal distribution.

Mirrors: torch/distributions/logistic_normal.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.normal import Normal
from reftorch.distributions.transformed_distribution import TransformedDistribution
from reftorch.distributions.transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    r"""The logistic-normal distribution on the simplex: a normal vector, mapped by ``StickBreakingTransform``.

    Args:
        loc: the means of the vector, (*, K - 1).
        scale: the standard deviations, (*, K - 1), positive.
        validate_args: see ``Distribution``.

    Example:
        >>> d = torch.distributions.LogisticNormal(torch.tensor([0.0] * 3), torch.tensor([1.0] * 3))
        >>> d.event_shape, round(d.sample().sum().item(), 4)
        (torch.Size([4]), 1.0)

    Mirrors torch/distributions/logistic_normal.py, ``LogisticNormal``.
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        base_dist = Normal(loc, scale, validate_args=validate_args)
        if not base_dist.batch_shape:
            base_dist = base_dist.expand([1])
        super().__init__(base_dist, StickBreakingTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(LogisticNormal, _instance)
        return super().expand(batch_shape, _instance=new)

    @property
    def loc(self) -> Tensor:
        """The means of the normal vector."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviations of the normal vector."""
        return self.base_dist.base_dist.scale
