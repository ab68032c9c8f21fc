"""The Wishart distribution.

Mirrors: torch/distributions/wishart.py
Leaves out: the branches for tracing, and a warning of singular samples where there are none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch._warnings import warn
from reftorch.distributions import constraints
from reftorch.distributions.chi2 import Chi2
from reftorch.distributions.exp_family import ExponentialFamily
from reftorch.distributions.multivariate_normal import _precision_to_scale_tril
from reftorch.distributions.utils import lazy_property
from reftorch.types import Number, _Number

__all__ = ["Wishart"]


_log_2 = math.log(2)


def _mvdigamma(x: Tensor, p: int) -> Tensor:
    """The derivative of the logarithm of the multivariate gamma function."""
    if not x.gt((p - 1) / 2).all():
        raise AssertionError("Wrong domain for multivariate digamma function.")
    halves = torch.arange(p, dtype=x.dtype, device=x.device).div(2)
    return torch.digamma(x.unsqueeze(-1) - halves.expand((*x.shape, -1))).sum(-1)


def _clamp_above_eps(x: Tensor) -> Tensor:
    return x.clamp(min=torch.finfo(x.dtype).eps)


class Wishart(ExponentialFamily):
    r"""The Wishart distribution of :math:`X = \sum_{i=1}^\nu x_i x_i^T`, where the :math:`x_i` are normal vectors.

    The density of the p x p matrix :math:`X` is proportional to

    .. math::
        \det(X)^{\frac{\nu - p - 1}{2}} \exp\left(-\frac12 \operatorname{tr}(\Sigma^{-1} X)\right)

    Args:
        df: the degrees of freedom :math:`\nu`, larger than p - 1; need not be whole.
        covariance_matrix: the covariance :math:`\Sigma` of the vectors, (*, p, p).
        precision_matrix: :math:`\Sigma^{-1}`, (*, p, p).
        scale_tril: the lower triangular :math:`L` with :math:`L L^T = \Sigma`, (*, p, p).
        validate_args: see ``Distribution``.

    Raises:
        AssertionError: not exactly one matrix is given.
        ValueError: the matrix has fewer than two dimensions, or ``df`` is too small.

    Example:
        >>> d = torch.distributions.Wishart(torch.tensor(3.0), torch.eye(2))
        >>> d.mean, d.sample().shape
        (tensor([[3., 0.],
                [0., 3.]]), torch.Size([2, 2]))

    Mirrors torch/distributions/wishart.py, ``Wishart``.
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        df: Tensor | Number,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        matrices = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
        if len(given) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        name, matrix = given[0]
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        if isinstance(df, _Number):
            batch_shape = torch.Size(matrix.shape[:-2])
            self.df = torch.tensor(df, dtype=matrix.dtype, device=matrix.device)
        else:
            batch_shape = torch.broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch_shape)
        event_shape = matrix.shape[-2:]
        if self.df.le(event_shape[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event_shape[-1] - 1}.")
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        if self.df.lt(event_shape[-1]).any():
            warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.")
        super().__init__(batch_shape, event_shape, validate_args=validate_args)

        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)
        self._dist_chi2 = self._chi2_of_the_diagonal(batch_shape)

    def _chi2_of_the_diagonal(self, batch_shape: Sequence[int]) -> Chi2:
        """The squared diagonal of Bartlett's factor: chi-squared, with one degree of freedom less in each row."""
        L = self._unbroadcasted_scale_tril
        rows = torch.arange(L.shape[-1], dtype=L.dtype, device=L.device)
        return Chi2(df=self.df.unsqueeze(-1) - rows.expand((*batch_shape, -1)))

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(Wishart, _instance)
        shape = (*batch_shape, *self.event_shape)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril.expand(shape)
        new.df = self.df.expand(torch.Size(batch_shape))
        for name in ("covariance_matrix", "precision_matrix", "scale_tril"):
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name].expand(shape))
        new._dist_chi2 = new._chi2_of_the_diagonal(batch_shape)
        return self._expand_parameters(new, batch_shape)

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def _expand_matrix(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance, (*, p, p)."""
        return self._expand_matrix(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance of the vectors, (*, p, p)."""
        L = self._unbroadcasted_scale_tril
        return self._expand_matrix(L @ L.transpose(-2, -1))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance, (*, p, p)."""
        L = self._unbroadcasted_scale_tril
        identity = torch.eye(self._event_shape[-1], device=L.device, dtype=L.dtype)
        return self._expand_matrix(torch.cholesky_solve(identity, L))

    @property
    def mean(self) -> Tensor:
        return self.df.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor[factor <= 0] = math.nan
        return factor.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        V = self.covariance_matrix
        diagonal = V.diagonal(dim1=-2, dim2=-1)
        outer = torch.einsum("...i,...j->...ij", diagonal, diagonal)
        return self.df.view((*self._batch_shape, 1, 1)) * (V.pow(2) + outer)

    def _bartlett_sampling(self, sample_shape: Sequence[int]) -> Tensor:
        """Bartlett's decomposition: L A (L A)^T, where A has chi variables on the diagonal and normal ones below."""
        p = self._event_shape[-1]
        noise = _clamp_above_eps(self._dist_chi2.rsample(sample_shape).sqrt()).diag_embed(dim1=-2, dim2=-1)
        i, j = torch.tril_indices(p, p, offset=-1)
        below = (*sample_shape, *self._batch_shape, int(p * (p - 1) / 2))
        noise[..., i, j] = torch.randn(below, dtype=noise.dtype, device=noise.device)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.transpose(-2, -1)

    def rsample(self, sample_shape: Sequence[int] = torch.Size(), max_try_correction: int | None = None) -> Tensor:
        # PyTorch's check of the first draw is inverted: it draws the valid samples once more, and keeps singular ones.
        # The same is done here, so that the same seed gives the same numbers. Only the warning differs: PyTorch
        # warns at the first draw, of every valid sample.
        sample = self._bartlett_sampling(sample_shape)
        again = self._any_in_batch(self.support.check(sample))
        for attempt in range(10 if max_try_correction is None else max_try_correction):
            if not again.any():
                break
            if attempt == 1:
                warn("Singular sample detected.")
            mask = again.clone()  # autograd keeps the mask, which therefore must not change
            new = self._bartlett_sampling(mask[mask].shape)
            sample[mask] = new
            again[mask] = self._any_in_batch(~self.support.check(new))
        return sample

    def _any_in_batch(self, mask: Tensor) -> Tensor:
        dims = [-(i + 1) for i in range(len(self._batch_shape))]
        return mask.amax(dims) if dims else mask

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        nu, p = self.df, self._event_shape[-1]
        L = self._unbroadcasted_scale_tril
        trace = torch.cholesky_solve(value, L).diagonal(dim1=-2, dim2=-1).sum(dim=-1)
        return (
            -nu * (p * _log_2 / 2 + self._half_log_det())
            - torch.mvlgamma(nu / 2, p=p)
            + (nu - p - 1) / 2 * torch.linalg.slogdet(value).logabsdet
            - trace / 2
        )

    def _half_log_det(self) -> Tensor:
        """Half of the logarithm of the covariance's determinant."""
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def entropy(self) -> Tensor:
        nu, p = self.df, self._event_shape[-1]
        return (
            (p + 1) * (p * _log_2 / 2 + self._half_log_det())
            + torch.mvlgamma(nu / 2, p=p)
            - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p=p)
            + nu * p / 2
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        p = self._event_shape[-1]
        half_nu = y + (p + 1) / 2
        return half_nu * (-torch.linalg.slogdet(-2 * x).logabsdet + _log_2 * p) + torch.mvlgamma(half_nu, p=p)
