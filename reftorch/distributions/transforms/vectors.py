"""Transforms of vectors and matrices.

Mirrors: torch/distributions/transforms.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import reftorch as torch
from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.transforms.elementwise import _clipped_sigmoid
from reftorch.distributions.transforms.transform import Transform
from reftorch.distributions.utils import tril_matrix_to_vec, vec_to_tril_matrix
from reftorch.nn.functional import logsigmoid, pad, softplus


def _require_dims(shape: Sequence[int], dims: int) -> None:
    if len(shape) < dims:
        raise ValueError("Too few dimensions on input")


class ReshapeTransform(Transform):
    """Reshape each event.

    Args:
        in_shape: shape of an event of the input.
        out_shape: shape of an event of the output.
        cache_size: see ``Transform``.

    Raises:
        ValueError: the shapes have different numbers of elements.

    Example:
        >>> t = torch.distributions.ReshapeTransform((4,), (2, 2))
        >>> t(torch.zeros(3, 4)).shape
        torch.Size([3, 2, 2])

    Mirrors torch/distributions/transforms.py, ``ReshapeTransform``.
    """

    bijective = True

    def __init__(self, in_shape: torch.Size, out_shape: torch.Size, cache_size: int = 0) -> None:
        self.in_shape = torch.Size(in_shape)
        self.out_shape = torch.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size=cache_size)

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape((*x.shape[: x.dim() - len(self.in_shape)], *self.out_shape))

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape((*y.shape[: y.dim() - len(self.out_shape)], *self.in_shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])  # no volume changes

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return self._replace_end(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return self._replace_end(shape, self.out_shape, self.in_shape)

    @staticmethod
    def _replace_end(shape: Sequence[int], old: torch.Size, new: torch.Size) -> Any:
        _require_dims(shape, len(old))
        cut = len(shape) - len(old)
        if shape[cut:] != old:
            raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {old}")
        return torch.Size((*shape[:cut], *new))


class CorrCholeskyTransform(Transform):
    r"""Map D (D - 1) / 2 real numbers to the Cholesky factor of a D x D correlation matrix.

    The numbers are placed below the diagonal, and :math:`\tanh` maps them to :math:`z`, in (-1, 1). Each row then has
    norm 1 by breaking a stick of length 1: an element takes the share :math:`z^2` of the squared length that the
    elements before it have left, and the diagonal takes the rest.

    Args:
        cache_size: see ``Transform``.

    Shape: (*, D (D - 1) / 2) -> (*, D, D).

    Example:
        >>> torch.distributions.CorrCholeskyTransform()(torch.tensor([0.5]))
        tensor([[1.0000, 0.0000],
                [0.4621, 0.8868]])

    Mirrors torch/distributions/transforms.py, ``CorrCholeskyTransform``.
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        x = torch.tanh(x)
        eps = torch.finfo(x.dtype).eps
        x = x.clamp(min=-1 + eps, max=1 - eps)
        z = vec_to_tril_matrix(x, diag=-1)
        rest = (1 - z**2).sqrt().cumprod(-1)
        z = z + torch.eye(z.shape[-1], dtype=z.dtype, device=z.device)  # the diagonal takes all of the rest
        return z * pad(rest[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        rest = 1 - torch.cumsum(y * y, dim=-1)
        rest_before = pad(rest[..., :-1], [1, 0], value=1)
        z = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(rest_before, diag=-1).sqrt()
        return (z.log1p() - z.neg().log1p()) / 2  # the inverse of tanh

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor, intermediates: Any = None) -> Tensor:
        # Both steps have triangular Jacobians, whose determinants are the products of their diagonals.
        rest = 1 - (y * y).cumsum(dim=-1)
        stick_breaking = 0.5 * tril_matrix_to_vec(rest, diag=-2).log().sum(-1)
        tanh = -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(dim=-1)
        return stick_breaking + tanh

    def forward_shape(self, shape: Sequence[int]) -> Any:
        _require_dims(shape, 1)
        n = shape[-1]
        size = round((0.25 + 2 * n) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != n:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return torch.Size((*shape[:-1], size, size))

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        _require_dims(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        n = shape[-1] * (shape[-1] - 1) // 2
        return torch.Size((*shape[:-2], n))


class SoftmaxTransform(Transform):
    r"""The map :math:`y = \exp(x)`, divided by the sum, from real vectors to the simplex.

    Vectors that differ by a constant have the same result, so the transform is not bijective; the inverse returns the
    logarithms. ``StickBreakingTransform`` is bijective, but treats the coordinates differently.

    Args:
        cache_size: see ``Transform``.

    Shape: (*, K) -> (*, K).

    Example:
        >>> torch.distributions.SoftmaxTransform()(torch.tensor([0.0, 1.0]))
        tensor([0.2689, 0.7311])

    Mirrors torch/distributions/transforms.py, ``SoftmaxTransform``.
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SoftmaxTransform)

    def _call(self, x: Tensor) -> Tensor:
        weights = (x - x.max(-1, True)[0]).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Sequence[int]) -> Any:
        _require_dims(shape, 1)
        return shape

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        _require_dims(shape, 1)
        return shape


class StickBreakingTransform(Transform):
    r"""Map K - 1 real numbers to a point of the simplex with K coordinates.

    A stick of length 1 is broken K - 1 times: coordinate :math:`i` takes the share :math:`\sigma(x_i - \log(K - i))` of
    what is left, and the last coordinate takes the rest. The offset :math:`\log(K - i)` maps 0 to equal coordinates.

    Args:
        cache_size: see ``Transform``.

    Shape: (*, K - 1) -> (*, K).

    Example:
        >>> torch.distributions.StickBreakingTransform()(torch.zeros(3))
        tensor([0.2500, 0.2500, 0.2500, 0.2500])

    Mirrors torch/distributions/transforms.py, ``StickBreakingTransform``.
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StickBreakingTransform)

    def _call(self, x: Tensor) -> Tensor:
        offset = x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)
        share = _clipped_sigmoid(x - offset.log())
        rest = (1 - share).cumprod(-1)
        return pad(share, [0, 1], value=1) * pad(rest, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        broken = y[..., :-1]
        offset = y.shape[-1] - y.new_ones(broken.shape[-1]).cumsum(-1)
        rest = torch.clamp(1 - broken.cumsum(-1), min=torch.finfo(y.dtype).tiny)  # rounding may make it negative
        return broken.log() - rest.log() + offset.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        offset = x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)
        x = x - offset.log()
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        _require_dims(shape, 1)
        return torch.Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        _require_dims(shape, 1)
        return torch.Size((*shape[:-1], shape[-1] - 1))


class LowerCholeskyTransform(Transform):
    """Map a matrix to a lower triangular one with a positive diagonal, by ``exp`` of the diagonal.

    Args:
        cache_size: see ``Transform``.

    Shape: (*, D, D) -> (*, D, D). What is above the diagonal is ignored.

    Example:
        >>> torch.distributions.LowerCholeskyTransform()(torch.zeros(2, 2))
        tensor([[1., 0.],
                [0., 1.]])

    Mirrors torch/distributions/transforms.py, ``LowerCholeskyTransform``.
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LowerCholeskyTransform)

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Map a matrix to a positive definite one, L L^T, where L comes from ``LowerCholeskyTransform``.

    Args:
        cache_size: see ``Transform``.

    Shape: (*, D, D) -> (*, D, D).

    Example:
        >>> torch.distributions.PositiveDefiniteTransform()(torch.tensor([[0.0, 9.0], [1.0, 0.0]]))
        tensor([[1., 1.],
                [1., 2.]])

    Mirrors torch/distributions/transforms.py, ``PositiveDefiniteTransform``.
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PositiveDefiniteTransform)

    def _call(self, x: Tensor) -> Tensor:
        x = LowerCholeskyTransform()(x)
        return x @ x.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(torch.linalg.cholesky(y))
