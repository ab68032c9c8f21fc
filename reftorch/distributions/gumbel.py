"""The Gumbel distribution.

Mirrors: torch/distributions/gumbel.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.transformed_distribution import TransformedDistribution
from reftorch.distributions.transforms import AffineTransform, ExpTransform
from reftorch.distributions.uniform import Uniform
from reftorch.distributions.utils import broadcast_all, euler_constant
from reftorch.types import _Number

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    r"""The Gumbel distribution of maxima, with the density, where :math:`z = (x - \mu) / \beta`,

    .. math::
        p(x) = \frac{1}{\beta} \exp(-z - e^{-z})

    The index of the largest of several logits plus Gumbel variables has the categorical distribution of the logits.

    Args:
        loc: the mode :math:`\mu`.
        scale: :math:`\beta`, positive.
        validate_args: see ``Distribution``.

    Example:
        >>> d = torch.distributions.Gumbel(torch.tensor([1.0]), torch.tensor([2.0]))
        >>> d.mean, d.log_prob(torch.tensor([1.0]))
        (tensor([2.1544]), tensor([-1.6931]))

    Mirrors torch/distributions/gumbel.py, ``Gumbel``.
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        finfo = torch.finfo(self.loc.dtype)
        low, high = finfo.tiny, 1 - finfo.eps  # neither 0 nor 1, whose images are infinite
        if isinstance(loc, _Number) and isinstance(scale, _Number):
            base_dist = Uniform(low, high, validate_args=validate_args)
        else:
            base_dist = Uniform(
                torch.full_like(self.loc, low), torch.full_like(self.loc, high), validate_args=validate_args
            )
        transforms = [  # loc - scale * log(-log(u))
            ExpTransform().inv,
            AffineTransform(loc=0, scale=-torch.ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(loc=loc, scale=-self.scale),
        ]
        super().__init__(base_dist, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(Gumbel, _instance)
        new.loc = self.loc.expand(torch.Size(batch_shape))
        new.scale = self.scale.expand(torch.Size(batch_shape))
        return super().expand(batch_shape, _instance=new)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return y - y.exp() - self.scale.log()

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)
