"""The multivariate normal distribution.

Mirrors: torch/distributions/multivariate_normal.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.distribution import Distribution
from reftorch.distributions.utils import _standard_normal, lazy_property

__all__ = ["MultivariateNormal"]


def _batch_mv(bmat: Tensor, bvec: Tensor) -> Tensor:
    """Multiply matrices (*, n, m) by vectors (*, m); both may broadcast."""
    return torch.matmul(bmat, bvec.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(bL: Tensor, bx: Tensor) -> Tensor:
    r"""Return the squared Mahalanobis distances :math:`x^T (L L^T)^{-1} x = |L^{-1} x|^2`.

    The batch of L, (*, n, n), may be smaller than the batch of x, (*, n): each of its sizes divides that of x. The
    vectors that belong to the same matrix are solved together, as the columns of one right-hand side, so that L is not
    copied. For this, a dimension i of the batch of x is split into (of x alone, of L).
    """
    n = bx.size(-1)
    batch = bx.shape[:-1]
    outer = len(batch) - (bL.dim() - 2)  # dimensions that only x has
    split = [*bx.shape[:outer]]
    for l_size, x_size in zip(bL.shape[:-2], bx.shape[outer:-1], strict=True):
        split += [x_size // l_size, l_size]
    bx = bx.reshape((*split, n))
    # (outer, x1, l1, x2, l2, ..., n) -> (outer, x1, x2, ..., l1, l2, ..., n)
    last = len(split)
    order = [*range(outer), *range(outer, last, 2), *range(outer + 1, last, 2)]
    bx = bx.permute((*order, last))

    flat_L = bL.reshape(-1, n, n)
    columns = bx.reshape(-1, flat_L.size(0), n).permute(1, 2, 0)  # (matrices, n, vectors for each)
    distances = torch.linalg.solve_triangular(flat_L, columns, upper=False).pow(2).sum(-2).t()

    back = [order.index(i) for i in range(last)]
    return distances.reshape(bx.shape[:-1]).permute(back).reshape(batch)


def _precision_to_scale_tril(P: Tensor) -> Tensor:
    """Return the lower triangular L for which L L^T is the inverse of P.

    The reversed matrix has a Cholesky factor; reversed back, it is an upper triangular U with U U^T = P. Its transposed
    inverse is L.
    """
    factor = torch.linalg.cholesky(torch.flip(P, (-2, -1)))
    inverse_of_L = torch.flip(factor, (-2, -1)).transpose(-2, -1)
    identity = torch.eye(P.shape[-1], dtype=P.dtype, device=P.device)
    return torch.linalg.solve_triangular(inverse_of_L, identity, upper=False)


class MultivariateNormal(Distribution):
    r"""The normal distribution of vectors, with the density

    .. math::
        p(x) = \frac{1}{\sqrt{(2 \pi)^k \det \Sigma}} \exp\left(-\frac12 (x - \mu)^T \Sigma^{-1} (x - \mu)\right)

    One of three matrices describes the covariance. ``scale_tril`` is the quickest, because all computations use the
    Cholesky factor of the covariance; the others are factorized once.

    Args:
        loc: the mean :math:`\mu`, (*, k).
        covariance_matrix: :math:`\Sigma`, (*, k, k), positive definite.
        precision_matrix: :math:`\Sigma^{-1}`, (*, k, k), positive definite.
        scale_tril: the lower triangular :math:`L` with :math:`L L^T = \Sigma`, (*, k, k).
        validate_args: see ``Distribution``.

    Raises:
        ValueError: not exactly one matrix is given, or an argument has too few dimensions.

    Example:
        >>> d = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
        >>> d.log_prob(torch.zeros(2)), d.sample((3,)).shape
        (tensor(-1.8379), torch.Size([3, 2]))

    Mirrors torch/distributions/multivariate_normal.py, ``MultivariateNormal``.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        matrices = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        name, matrix = given[0]
        if matrix.dim() < 2:
            noun = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(f"{noun} must be at least two-dimensional, with optional leading batch dimensions")
        batch_shape = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        self.loc = loc.expand((*batch_shape, -1))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)

        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(MultivariateNormal, _instance)
        new.loc = self.loc.expand((*batch_shape, *self.event_shape))
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        for name in ("covariance_matrix", "precision_matrix", "scale_tril"):
            if name in self.__dict__:
                matrix = self.__dict__[name].expand((*batch_shape, *self.event_shape, *self.event_shape))
                setattr(new, name, matrix)
        return self._expand_parameters(new, batch_shape)

    def _expand_matrix(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance, (*, k, k)."""
        return self._expand_matrix(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance, (*, k, k)."""
        L = self._unbroadcasted_scale_tril
        return self._expand_matrix(torch.matmul(L, L.mT))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance, (*, k, k)."""
        return self._expand_matrix(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        eps = _standard_normal(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, eps)

    def _half_log_det(self) -> Tensor:
        """Half of the logarithm of the covariance's determinant."""
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        distance = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self._half_log_det()

    def entropy(self) -> Tensor:
        entropy = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return entropy.expand(self._batch_shape)
