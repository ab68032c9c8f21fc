"""The base class of all distributions.

Mirrors: torch/distributions/distribution.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch._warnings import warn
from reftorch.distributions import constraints
from reftorch.distributions.utils import lazy_property

__all__ = ["Distribution"]


class Distribution:
    """A probability distribution, or a batch of independent distributions of one family.

    The shape of a sample has three parts, ``sample_shape + batch_shape + event_shape``:

    - ``sample_shape`` is asked for by the caller: that many independent draws.
    - ``batch_shape`` is the shape of the parameters: distributions that differ in their parameters.
    - ``event_shape`` is the shape of one draw of one distribution: () for a number, (k,) for a vector. The elements of
      an event depend on each other, so an event has one probability.

    ``log_prob`` therefore maps (*, *batch_shape, *event_shape) to (*, *batch_shape).

    Args:
        batch_shape: shape of the parameters.
        event_shape: shape of one event.
        validate_args: whether to check the parameters, and the arguments of ``log_prob`` and ``cdf``. By default they
            are checked unless Python runs with ``-O``; ``set_default_validate_args`` changes that.

    Raises:
        ValueError: a parameter does not satisfy its constraint.

    Example:
        >>> normals = torch.distributions.Normal(torch.zeros(3), torch.ones(3))
        >>> normals.batch_shape, normals.event_shape, normals.sample((5,)).shape
        (torch.Size([3]), torch.Size([]), torch.Size([5, 3]))
        >>> vector = torch.distributions.Independent(normals, 1)
        >>> vector.batch_shape, vector.event_shape, vector.log_prob(torch.zeros(3)).shape
        (torch.Size([]), torch.Size([3]), torch.Size([]))

    Mirrors torch/distributions/distribution.py, ``Distribution``.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether distributions that are made from now on check their arguments.

        Mirrors torch/distributions/distribution.py, ``Distribution.set_default_validate_args``.
        """
        if value not in [True, False]:
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Sequence[int] = torch.Size(),
        event_shape: Sequence[int] = torch.Size(),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape = torch.Size(batch_shape)
        self._event_shape = torch.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            arg_constraints = {}
            warn(
                f"{self.__class__} does not define `arg_constraints`. "
                "Please set `arg_constraints = {}` or initialize the distribution "
                "with `validate_args=False` to turn off validation."
            )
        for name, constraint in arg_constraints.items():
            if constraints.is_dependent(constraint):
                continue  # what is allowed depends on other parameters
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue  # computed from the parameter that was given, which is checked
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) "
                    f"of distribution {self!r} to satisfy the constraint {constraint!r}, "
                    f"but found invalid values:\n{value}"
                )

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """Return a new distribution whose parameters are views of this one's, expanded to ``batch_shape``.

        Args:
            batch_shape: the new batch shape, to which the batch shape can be broadcast.
            _instance: the new object, if a subclass has made it already.

        Mirrors torch/distributions/distribution.py, ``Distribution.expand``.
        """
        raise NotImplementedError

    def _expand_parameters(self, new: Any, batch_shape: Sequence[int], *names: str) -> Any:
        """Give ``new`` those of the named parameters that this distribution has, expanded; return ``new``.

        A parameter that is a lazy property and was not computed yet is left to be computed. The expanded parameters
        need no check, but ``new`` checks the arguments of its methods if this distribution does.
        """
        batch_shape = torch.Size(batch_shape)
        for name in names:
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name].expand(batch_shape))
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def batch_shape(self) -> torch.Size:
        """The shape over which the parameters are batched."""
        return self._batch_shape

    @property
    def event_shape(self) -> torch.Size:
        """The shape of a single event."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, Any]:
        """The constraint of each parameter, by its name."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The constraint that says which values can be drawn."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The mean, (*batch_shape, *event_shape)."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The most probable value, (*batch_shape, *event_shape)."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance, (*batch_shape, *event_shape)."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation, (*batch_shape, *event_shape)."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        """Draw values, without gradients: (*sample_shape, *batch_shape, *event_shape).

        Mirrors torch/distributions/distribution.py, ``Distribution.sample``.
        """
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        """Draw values as a differentiable function of the parameters and of random numbers without parameters.

        Only a family with ``has_rsample`` can do so. The gradient of an expectation over the samples then flows into
        the parameters (the reparameterization trick, which trains variational autoencoders).

        Mirrors torch/distributions/distribution.py, ``Distribution.rsample``.
        """
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """Draw ``n`` values. Deprecated: ``sample((n,))``.

        Mirrors torch/distributions/distribution.py, ``Distribution.sample_n``.
        """
        warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", category=FutureWarning)
        return self.sample(torch.Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density, or of the probability, of each event in ``value``.

        Args:
            value: broadcastable with (*batch_shape, *event_shape).

        Raises:
            ValueError: an event has another shape, or is outside the support.

        Mirrors torch/distributions/distribution.py, ``Distribution.log_prob``.
        """
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability that a draw is at most ``value``.

        Mirrors torch/distributions/distribution.py, ``Distribution.cdf``.
        """
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile: the number whose ``cdf`` is ``value``.

        Mirrors torch/distributions/distribution.py, ``Distribution.icdf``.
        """
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all values of a discrete distribution, (cardinality, *batch_shape, *event_shape).

        Args:
            expand: whether to expand over the batch. Otherwise its dimensions have size 1.

        Mirrors torch/distributions/distribution.py, ``Distribution.enumerate_support``.
        """
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Return the entropy in nats, of shape ``batch_shape``.

        Mirrors torch/distributions/distribution.py, ``Distribution.entropy``.
        """
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """Return the exponential of the entropy, of shape ``batch_shape``.

        Mirrors torch/distributions/distribution.py, ``Distribution.perplexity``.
        """
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape: Sequence[int] = torch.Size()) -> torch.Size:
        return torch.Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Tensor) -> None:
        """Check that ``value`` has events of this distribution's shape and is in its support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        event_dim_start = value.dim() - len(self._event_shape)
        if value.size()[event_dim_start:] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.size()} vs {self._event_shape}."
            )
        expected = torch.Size((*self._batch_shape, *self._event_shape))
        for i, j in zip(reversed(value.size()), reversed(expected), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {value.size()} vs {expected}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warn(
                f"{self.__class__} does not define `support` to enable "
                "sample validation. Please initialize the distribution with "
                "`validate_args=False` to turn off validation."
            )
            return
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, "
                f"but found invalid values:\n{value}"
            )

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """Return the object that ``expand`` fills: ``_instance``, or a new one that has not run its ``__init__``."""
        if _instance is None and type(self).__init__ != cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom __init__ method "
                "must also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def __repr__(self) -> str:
        parameters = [(name, self.__dict__[name]) for name in self.arg_constraints if name in self.__dict__]
        shown = ", ".join(f"{name}: {p if p.numel() == 1 else p.size()}" for name, p in parameters)
        return f"{self.__class__.__name__}({shown})"
