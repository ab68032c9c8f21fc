"""Transforms of numbers: each element is mapped by itself.

Mirrors: torch/distributions/transforms.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.distribution import Distribution
from reftorch.distributions.transforms.transform import Transform
from reftorch.distributions.utils import broadcast_all, lazy_property
from reftorch.nn.functional import softplus
from reftorch.types import _Number


class ExpTransform(Transform):
    r"""The transform :math:`y = e^x`, from the real numbers to the positive numbers.

    Args:
        cache_size: see ``Transform``.

    Example:
        >>> torch.distributions.ExpTransform()(torch.tensor([0.0, 1.0]))
        tensor([1.0000, 2.7183])

    Mirrors torch/distributions/transforms.py, ``ExpTransform``.
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExpTransform)

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    r"""The transform :math:`y = x^a` of positive numbers.

    Args:
        exponent: :math:`a`, a number or a tensor that broadcasts with :math:`x`.
        cache_size: see ``Transform``.

    Example:
        >>> torch.distributions.PowerTransform(torch.tensor(2.0))(torch.tensor([1.0, 3.0]))
        tensor([1., 9.])

    Mirrors torch/distributions/transforms.py, ``PowerTransform``.
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Tensor, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return PowerTransform(self.exponent, cache_size=cache_size)

    @lazy_property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all().item())

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return torch.broadcast_shapes(shape, self.exponent.shape)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return torch.broadcast_shapes(shape, self.exponent.shape)


def _clipped_sigmoid(x: Tensor) -> Tensor:
    finfo = torch.finfo(x.dtype)
    return torch.clamp(torch.sigmoid(x), min=finfo.tiny, max=1.0 - finfo.eps)


class SigmoidTransform(Transform):
    r"""The transform :math:`y = \frac{1}{1 + e^{-x}}`, from the real numbers to (0, 1).

    The result is clamped to numbers whose inverse is finite.

    Args:
        cache_size: see ``Transform``.

    Example:
        >>> torch.distributions.SigmoidTransform()(torch.tensor([0.0, 1.0]))
        tensor([0.5000, 0.7311])

    Mirrors torch/distributions/transforms.py, ``SigmoidTransform``.
    """

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    sign = +1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SigmoidTransform)

    def _call(self, x: Tensor) -> Tensor:
        return _clipped_sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        finfo = torch.finfo(y.dtype)
        y = y.clamp(min=finfo.tiny, max=1.0 - finfo.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(Transform):
    r"""The transform :math:`y = \log(1 + e^x)`, from the real numbers to the positive numbers.

    Unlike ``ExpTransform``, it grows linearly for large :math:`x`.

    Args:
        cache_size: see ``Transform``.

    Example:
        >>> torch.distributions.SoftplusTransform()(torch.tensor([0.0, 10.0]))
        tensor([ 0.6931, 10.0000])

    Mirrors torch/distributions/transforms.py, ``SoftplusTransform``.
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SoftplusTransform)

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(Transform):
    r"""The transform :math:`y = \tanh x`, from the real numbers to (-1, 1).

    The inverse is infinite where ``y`` was rounded to 1. A policy that squashes its actions should therefore use
    ``cache_size=1``, so that the inverse of its own sample is exact.

    Args:
        cache_size: see ``Transform``.

    Example:
        >>> torch.distributions.TanhTransform()(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])

    Mirrors torch/distributions/transforms.py, ``TanhTransform``.
    """

    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = +1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TanhTransform)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))  # log(1 - tanh^2 x), without cancellation


class AbsTransform(Transform):
    r"""The transform :math:`y = |x|`. Two numbers have the same result; the inverse is the positive one.

    Args:
        cache_size: see ``Transform``.

    Example:
        >>> torch.distributions.AbsTransform()(torch.tensor([-2.0, 2.0]))
        tensor([2., 2.])

    Mirrors torch/distributions/transforms.py, ``AbsTransform``.
    """

    domain = constraints.real
    codomain = constraints.positive

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbsTransform)

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, _Number) and isinstance(b, _Number):
        return a == b
    return bool((a == b).all().item())


class AffineTransform(Transform):
    r"""The transform :math:`y = l + s x`.

    Args:
        loc: :math:`l`, a number or a tensor that broadcasts with :math:`x`.
        scale: :math:`s`, a number or a tensor; not 0.
        event_dim: how many of the last dimensions form one event (default 0: numbers).
        cache_size: see ``Transform``.

    Example:
        >>> torch.distributions.AffineTransform(1.0, 2.0)(torch.tensor([0.0, 1.0]))
        tensor([1., 3.])

    Mirrors torch/distributions/transforms.py, ``AffineTransform``.
    """

    bijective = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self.event_dim, cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AffineTransform) and _equal(self.loc, other.loc) and _equal(self.scale, other.scale)

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, _Number):
            return 1 if float(self.scale) > 0 else -1 if float(self.scale) < 0 else 0
        return self.scale.sign()

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        shape = x.shape
        if isinstance(self.scale, _Number):
            result = torch.full_like(x, math.log(abs(self.scale)))
        else:
            result = torch.abs(self.scale).log()
        if self.event_dim:
            result = result.view((*result.size()[: -self.event_dim], -1)).sum(-1)
            shape = shape[: -self.event_dim]
        return result.expand(shape)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return torch.broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return torch.broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))


class CumulativeDistributionTransform(Transform):
    r"""The transform :math:`y = F(x)` by the cumulative distribution function of a distribution of numbers.

    A sample of the distribution becomes uniform on [0, 1]. The inverse makes samples of the distribution of uniform
    numbers, so two such transforms make a copula.

    Args:
        distribution: the distribution; needs ``cdf``, ``icdf`` and ``log_prob``.
        cache_size: see ``Transform``.

    Example:
        >>> from reftorch.distributions import CumulativeDistributionTransform, Exponential
        >>> CumulativeDistributionTransform(Exponential(1.0))(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.6321])

    Mirrors torch/distributions/transforms.py, ``CumulativeDistributionTransform``.
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)
