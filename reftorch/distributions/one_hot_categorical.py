"""One-hot vectors from a categorical distribution.

Mirrors: torch/distributions/one_hot_categorical.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.categorical import Categorical
from reftorch.distributions.distribution import Distribution
from reftorch.nn.functional import one_hot

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(Distribution):
    r"""The categorical distribution of one-hot vectors: element :math:`i` is 1 with probability :math:`p_i`.

    Args:
        probs: (*, K), not negative. They are divided by their sum.
        logits: logarithms of weights, (*, K), instead of ``probs``.
        validate_args: see ``Distribution``.

    Example:
        >>> d = torch.distributions.OneHotCategorical(torch.tensor([1.0, 3.0]))
        >>> d.mode, d.log_prob(torch.tensor([0.0, 1.0])).exp()
        (tensor([0., 1.]), tensor(0.7500))

    Mirrors torch/distributions/one_hot_categorical.py, ``OneHotCategorical``.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        event_shape = self._categorical.param_shape[-1:]
        super().__init__(self._categorical.batch_shape, event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(OneHotCategorical, _instance)
        new._categorical = self._categorical.expand(batch_shape)
        return self._expand_parameters(new, batch_shape)

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def probs(self) -> Tensor:
        """The probabilities, (*, K)."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities, (*, K)."""
        return self._categorical.logits

    @property
    def mean(self) -> Tensor:
        return self._categorical.probs

    @property
    def mode(self) -> Tensor:
        return one_hot(self.probs.argmax(dim=-1), num_classes=self.probs.shape[-1]).to(self.probs)

    @property
    def variance(self) -> Tensor:
        return self._categorical.probs * (1 - self._categorical.probs)

    @property
    def param_shape(self) -> torch.Size:
        """The shape of the parameter, (*, K)."""
        return self._categorical.param_shape

    def sample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        indices = self._categorical.sample(sample_shape)
        return one_hot(indices, self._categorical._num_events).to(self._categorical.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self.event_shape[0]
        values = torch.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n,) + (1,) * len(self.batch_shape) + (n,))
        return values.expand((n, *self.batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    r"""``OneHotCategorical`` with a gradient: the sample counts as the probabilities in the backward pass.

    The straight-through estimator is biased, but its samples are one-hot, unlike those of
    ``RelaxedOneHotCategorical``.

    Args:
        probs: (*, K), not negative. They are divided by their sum.
        logits: logarithms of weights, (*, K), instead of ``probs``.
        validate_args: see ``Distribution``.

    Example:
        >>> probs = torch.tensor([0.5, 0.5], requires_grad=True)
        >>> sample = torch.distributions.OneHotCategoricalStraightThrough(probs).rsample()
        >>> (sample * torch.tensor([1.0, 3.0])).sum().backward()
        >>> probs.grad
        tensor([-1.,  1.])

    Mirrors torch/distributions/one_hot_categorical.py, ``OneHotCategoricalStraightThrough``.
    """

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        samples = self.sample(sample_shape)
        probs = self._categorical.probs
        return samples + (probs - probs.detach())
