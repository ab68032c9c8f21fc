"""The LKJ distribution of correlation matrices.

Mirrors: torch/distributions/lkj_cholesky.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.beta import Beta
from reftorch.distributions.distribution import Distribution
from reftorch.distributions.utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    r"""The LKJ distribution of correlation matrices :math:`M`. The density is proportional to

    .. math::
        \det(M)^{\eta - 1}

    Events are lower Cholesky factors of the matrices. Samples are made by the onion method: row by row, each row is a
    random direction with a beta-distributed length, and the diagonal makes its norm 1.

    Args:
        dim: the number of rows D, at least 2.
        concentration: :math:`\eta`, positive. 1 is uniform over the matrices; larger values favor the identity.
        validate_args: see ``Distribution``.

    Raises:
        ValueError: ``dim`` is less than 2.

    Example:
        >>> L = torch.distributions.LKJCholesky(3, 0.5).sample()
        >>> L.shape, bool(torch.allclose((L @ L.T).diagonal(), torch.ones(3)))
        (torch.Size([3, 3]), True)

    Mirrors torch/distributions/lkj_cholesky.py, ``LKJCholesky``.
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Tensor | float = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        # The squared length of row i below the diagonal is Beta(i / 2, marginal - (i - 1) / 2); row 0 is not used.
        marginal = self.concentration + 0.5 * (self.dim - 2)
        offset = torch.arange(self.dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        offset = torch.cat([offset.new_zeros((1,)), offset])
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.size(), torch.Size((dim, dim)), validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(LKJCholesky, _instance)
        new.dim = self.dim
        new._beta = self._beta.expand((*batch_shape, self.dim))
        return self._expand_parameters(new, batch_shape, "concentration")

    def sample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        y = self._beta.sample(sample_shape).unsqueeze(-1)
        normal = torch.randn(self._extended_shape(sample_shape), dtype=y.dtype, device=y.device).tril(-1)
        direction = normal / normal.norm(dim=-1, keepdim=True)
        direction[..., 0, :].fill_(0.0)  # the first row is empty below the diagonal, and was 0 / 0
        w = torch.sqrt(y) * direction
        tiny = torch.finfo(w.dtype).tiny
        w += torch.diag_embed(torch.clamp(1 - torch.sum(w**2, dim=-1), min=tiny).sqrt())
        return w

    def log_prob(self, value: Tensor) -> Tensor:
        # The Jacobian from the matrix to its factor gives each diagonal element an exponent of its own.
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = torch.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        unnormalized = torch.sum(order * diagonal.log(), dim=-1)
        dm1 = self.dim - 1
        alpha = self.concentration + 0.5 * dm1
        normalizer = 0.5 * dm1 * math.log(math.pi) + torch.mvlgamma(alpha - 0.5, dm1) - torch.lgamma(alpha) * dm1
        return unnormalized - normalizer
