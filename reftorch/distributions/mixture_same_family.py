"""A mixture of distributions of one family.

Mirrors: torch/distributions/mixture_same_family.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.categorical import Categorical
from reftorch.distributions.distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    r"""A mixture: first an index is drawn, then a value of the component with this index. The density is

    .. math::
        p(x) = \sum_k \pi_k \, p_k(x)

    Args:
        mixture_distribution: a ``Categorical`` with the weights :math:`\pi`; its batch shape is the mixture's.
        component_distribution: the components, one for each element of the last batch dimension.
        validate_args: see ``Distribution``.

    Raises:
        ValueError: an argument has another type, or the shapes do not fit.

    Example:
        >>> from reftorch.distributions import Categorical, MixtureSameFamily, Normal
        >>> weights = Categorical(torch.tensor([0.5, 0.5]))
        >>> mixture = MixtureSameFamily(weights, Normal(torch.tensor([-2.0, 2.0]), torch.tensor([1.0, 1.0])))
        >>> mixture.mean, mixture.variance, mixture.log_prob(torch.tensor(2.0))
        (tensor(0.), tensor(5.), tensor(-1.6118))

    Mirrors torch/distributions/mixture_same_family.py, ``MixtureSameFamily``.
    """

    arg_constraints: dict[str, Any] = {}
    has_rsample = False

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        mixture_shape = mixture_distribution.batch_shape
        component_shape = component_distribution.batch_shape[:-1]
        for size1, size2 in zip(reversed(mixture_shape), reversed(component_shape), strict=False):
            if size1 != 1 and size2 != 1 and size1 != size2:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({mixture_shape}) is not compatible with "
                    f"`component_distribution.batch_shape`({component_shape})"
                )
        km = mixture_distribution.logits.shape[-1]
        kc = component_distribution.batch_shape[-1]
        if km != kc:
            raise ValueError(
                f"`mixture_distribution component` ({km}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({kc})"
            )
        self._num_component = km
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(component_shape, event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        new._component_distribution = self._component_distribution.expand((*batch_shape, self._num_component))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component = self._num_component
        new._event_ndims = self._event_ndims
        return self._expand_parameters(new, batch_shape)

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """The distribution of the component's index."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components."""
        return self._component_distribution

    @property
    def mean(self) -> Tensor:
        probs = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        return torch.sum(probs * self.component_distribution.mean, dim=-1 - self._event_ndims)

    @property
    def variance(self) -> Tensor:
        """The mean of the components' variances, plus the variance of their means (the law of total variance)."""
        probs = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        dim = -1 - self._event_ndims
        deviation = self.component_distribution.mean - self._pad(self.mean)
        mean_of_variances = torch.sum(probs * self.component_distribution.variance, dim=dim)
        return mean_of_variances + torch.sum(probs * deviation.pow(2.0), dim=dim)

    def cdf(self, x: Tensor) -> Tensor:
        return torch.sum(self.component_distribution.cdf(self._pad(x)) * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, x: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(x)
        log_prob_x = self.component_distribution.log_prob(self._pad(x))
        log_mix_prob = torch.log_softmax(self.mixture_distribution.logits, dim=-1)
        return torch.logsumexp(log_prob_x + log_mix_prob, dim=-1)

    def sample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        with torch.no_grad():
            dim = len(sample_shape) + len(self.batch_shape)  # of the components
            index = self.mixture_distribution.sample(sample_shape)
            values = self.component_distribution.sample(sample_shape)  # of all components; one is kept
            index = index.reshape(index.shape + (1,) * (self._event_ndims + 1))
            index = index.repeat((1,) * (index.dim() - self._event_ndims) + tuple(self.event_shape))
            return torch.gather(values, dim, index).squeeze(dim)

    def _pad(self, x: Tensor) -> Tensor:
        """Insert a dimension for the components before the event."""
        return x.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, x: Tensor) -> Tensor:
        """Give the weights, (*, K), the dimensions of the components' batch and event."""
        missing = len(self.batch_shape) - len(self.mixture_distribution.batch_shape)
        pad_ndims = 0 if len(self.mixture_distribution.batch_shape) == 1 else missing
        return x.reshape(x.shape[:-1] + (1,) * pad_ndims + x.shape[-1:] + (1,) * self._event_ndims)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
