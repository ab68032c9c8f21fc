"""The Poisson distribution.

Mirrors: torch/distributions/poisson.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.exp_family import ExponentialFamily
from reftorch.distributions.utils import broadcast_all
from reftorch.types import Number

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    r"""The Poisson distribution of the number of events in a time, with the probabilities

    .. math::
        p(k) = \frac{\lambda^k e^{-\lambda}}{k!}

    Args:
        rate: the mean :math:`\lambda`, not negative.
        validate_args: see ``Distribution``.

    Example:
        >>> torch.distributions.Poisson(torch.tensor([4.0])).log_prob(torch.tensor([3.0]))
        tensor([-1.6329])

    Mirrors torch/distributions/poisson.py, ``Poisson``.
    """

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Tensor | Number, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(Poisson, _instance)
        return self._expand_parameters(new, batch_shape, "rate")

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        with torch.no_grad():
            return torch.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (torch.log(self.rate),)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return torch.exp(x)
