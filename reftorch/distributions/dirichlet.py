"""The Dirichlet distribution.

Mirrors: torch/distributions/dirichlet.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.autograd import Function
from reftorch.autograd.function import once_differentiable
from reftorch.distributions import constraints
from reftorch.distributions.exp_family import ExponentialFamily
from reftorch.nn.functional import one_hot

__all__ = ["Dirichlet"]


class _Dirichlet(Function):
    """A Dirichlet sample, whose gradient is computed with the gradients of its beta-distributed elements."""

    @staticmethod
    def forward(ctx: Any, concentration: Tensor) -> Tensor:
        x = torch._sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        x, concentration = ctx.saved_tensors
        total = concentration.sum(-1, True).expand_as(concentration)
        grad = torch._dirichlet_grad(x, concentration, total)
        return grad * (grad_output - (x * grad_output).sum(-1, True))  # the elements sum to 1


class Dirichlet(ExponentialFamily):
    r"""The Dirichlet distribution of points :math:`x` of the simplex, with the density

    .. math::
        p(x) = \frac{\Gamma(\sum_i \alpha_i)}{\prod_i \Gamma(\alpha_i)} \prod_i x_i^{\alpha_i - 1}

    A sample is a vector of probabilities, so the distribution is the usual prior of a categorical distribution.

    Args:
        concentration: :math:`\alpha`, (*, K), positive.
        validate_args: see ``Distribution``.

    Raises:
        ValueError: ``concentration`` has no dimension.

    Example:
        >>> d = torch.distributions.Dirichlet(torch.tensor([1.0, 3.0]))
        >>> d.mean, d.event_shape, d.sample().sum()
        (tensor([0.2500, 0.7500]), torch.Size([2]), tensor(1.))

    Mirrors torch/distributions/dirichlet.py, ``Dirichlet``.
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(Dirichlet, _instance)
        new.concentration = self.concentration.expand((*batch_shape, *self.event_shape))
        return self._expand_parameters(new, batch_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return _Dirichlet.apply(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return (
            torch.xlogy(self.concentration - 1.0, value).sum(-1)
            + torch.lgamma(self.concentration.sum(-1))
            - torch.lgamma(self.concentration).sum(-1)
        )

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        excess = (self.concentration - 1).clamp(min=0.0)
        mode = excess / excess.sum(-1, True)
        in_a_corner = (self.concentration < 1).all(dim=-1)  # the density has its poles there
        corner = mode[in_a_corner].argmax(dim=-1)
        mode[in_a_corner] = one_hot(corner, excess.shape[-1]).to(mode)
        return mode

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Tensor:
        k = self.concentration.size(-1)
        total = self.concentration.sum(-1)
        return (
            torch.lgamma(self.concentration).sum(-1)
            - torch.lgamma(total)
            - (k - total) * torch.digamma(total)
            - ((self.concentration - 1.0) * torch.digamma(self.concentration)).sum(-1)
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return x.lgamma().sum(-1) - torch.lgamma(x.sum(-1))
