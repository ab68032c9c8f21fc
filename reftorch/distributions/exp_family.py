"""The base class of exponential families.

Mirrors: torch/distributions/exp_family.py
"""

from __future__ import annotations

from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    r"""A distribution whose density has the form

    .. math::
        p(x; \theta) = \exp(\langle t(x), \theta \rangle - F(\theta) + k(x))

    with the natural parameters :math:`\theta`, the sufficient statistics :math:`t(x)`, the log-normalizer :math:`F` and
    the carrier measure :math:`k`. The gradient of :math:`F` is the mean of :math:`t(x)`, so autograd computes entropies
    and divergences of all these families from :math:`F` alone.

    A subclass defines ``_natural_params``, ``_log_normalizer`` and ``_mean_carrier_measure``, the mean of :math:`k(x)`.

    Example:
        >>> p = torch.distributions.Exponential(torch.tensor(2.0))
        >>> generic = torch.distributions.ExponentialFamily.entropy(p)
        >>> bool(torch.isclose(generic, p.entropy()))
        True

    Mirrors torch/distributions/exp_family.py, ``ExponentialFamily``.
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> float:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        r"""Return :math:`F(\theta) - \langle \theta, \nabla F(\theta) \rangle - E[k(x)]`.

        Mirrors torch/distributions/exp_family.py, ``ExponentialFamily.entropy``.
        """
        result: Any = -self._mean_carrier_measure
        natural_params = [p.detach().requires_grad_() for p in self._natural_params]
        log_normalizer = self._log_normalizer(*natural_params)
        gradients = torch.autograd.grad(log_normalizer.sum(), natural_params, create_graph=True)
        result += log_normalizer
        for p, g in zip(natural_params, gradients, strict=True):
            result -= (p * g).reshape((*self._batch_shape, -1)).sum(-1)
        return result
