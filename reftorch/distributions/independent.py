"""A distribution some of whose batch dimensions count as one event.

Mirrors: torch/distributions/independent.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.distribution import Distribution
from reftorch.distributions.utils import _sum_rightmost

__all__ = ["Independent"]


class Independent(Distribution):
    """A distribution whose last batch dimensions are part of the event, so that ``log_prob`` sums over them.

    A vector of independent normal variables, for example, is ``Independent(Normal(mean, std), 1)``: one event with
    one probability, as ``MultivariateNormal`` with a diagonal covariance.

    Args:
        base_distribution: the distribution of the elements.
        reinterpreted_batch_ndims: how many batch dimensions, counted from the last, become part of the event.
        validate_args: see ``Distribution``.

    Raises:
        ValueError: the base distribution has fewer batch dimensions.

    Example:
        >>> from reftorch.distributions import Independent, Normal
        >>> d = Independent(Normal(torch.zeros(2, 3), torch.ones(2, 3)), 1)
        >>> d.batch_shape, d.event_shape, d.log_prob(torch.zeros(3))
        (torch.Size([2]), torch.Size([3]), tensor([-2.7568, -2.7568]))

    Mirrors torch/distributions/independent.py, ``Independent``.
    """

    arg_constraints: dict[str, Any] = {}

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        if reinterpreted_batch_ndims > len(base_distribution.batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(base_distribution.batch_shape)}"
            )
        shape = base_distribution.batch_shape + base_distribution.event_shape
        cut = len(base_distribution.batch_shape) - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(Independent, _instance)
        base_shape = (*batch_shape, *self.event_shape[: self.reinterpreted_batch_ndims])
        new.base_dist = self.base_dist.expand(base_shape)
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        return self._expand_parameters(new, batch_shape)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        return self.reinterpreted_batch_ndims <= 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        result = self.base_dist.support
        if self.reinterpreted_batch_ndims:
            result = constraints.independent(result, self.reinterpreted_batch_ndims)
        return result

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
