r"""The parametrizations that come with the library: orthogonal matrices, weight norm and spectral norm.

Mirrors: torch/nn/utils/parametrizations.py
Leaves out: complex weights.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._type_info import finfo
from reftorch.autograd.grad_mode import no_grad
from reftorch.linalg import householder_product, solve
from reftorch.nn import functional as F
from reftorch.nn.modules.module import Module
from reftorch.nn.utils import parametrize

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _is_orthogonal(Q: Tensor) -> bool:
    n, k = Q.size(-2), Q.size(-1)
    identity = _VF.eye(k, dtype=Q.dtype, device=Q.device)
    return _VF.allclose(Q.mT @ Q, identity, atol=10.0 * n * finfo(Q.dtype).eps)


def _make_orthogonal(A: Tensor) -> Tensor:
    """Return the orthogonal factor of a QR decomposition in which R has a positive diagonal."""
    X, tau = _VF.geqrf(A)
    return householder_product(X, tau) * X.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


class _Orthogonal(Module):
    r"""Map any matrix of shape :math:`(*, n, k)` to one with orthonormal columns, or rows if :math:`n < k`.

    ``matrix_exp`` and ``cayley`` make the skew-symmetric matrix :math:`A = X - X^T` from the lower triangle of X, and
    return :math:`e^A` and :math:`(I + A/2)(I - A/2)^{-1}`. ``householder`` multiplies the reflections whose vectors are
    the columns of the lower triangle. With trivialization, the result is multiplied by the orthogonal matrix ``base``,
    so that a weight of any value can be assigned: the weight becomes ``base``, and X becomes minus the identity.
    """

    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True) -> None:
        super().__init__()
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        n, k = X.size(-2), X.size(-1)
        transposed = n < k
        if transposed:
            X, n, k = X.mT, k, n
        if self.orthogonal_map == _OrthMaps.householder:
            A = X.tril(diagonal=-1)
            tau = 2.0 / (1.0 + (A * A).sum(dim=-2))
            # The diagonal of X has the signs 1 and -1, which are not trained: hence the conversion to int.
            Q = householder_product(A, tau) * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            X = X.tril()
            if n != k:
                X = _VF.cat([X, X.new_zeros(n, n - k).expand(*X.shape[:-2], -1, -1)], dim=-1)
            A = X - X.mT
            if self.orthogonal_map == _OrthMaps.matrix_exp:
                Q = _VF.matrix_exp(A)
            else:
                identity = _VF.eye(n, dtype=A.dtype, device=A.device)
                Q = solve(_VF.add(identity, A, alpha=-0.5), _VF.add(identity, A, alpha=0.5))
            if n != k:
                Q = Q[..., :k]
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if transposed else Q

    @no_grad()
    def right_inverse(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        initial = Q
        n, k = Q.size(-2), Q.size(-1)
        transposed = n < k
        if transposed:
            Q, n, k = Q.mT, k, n
        if hasattr(self, "base"):
            if n != k:  # complete the columns to a basis
                Q = _make_orthogonal(
                    _VF.cat([Q, _VF.randn(*Q.shape[:-2], n, n - k, dtype=Q.dtype, device=Q.device)], -1)
                )
            else:
                Q = Q.clone() if _is_orthogonal(Q) else _make_orthogonal(Q)
            self.base = Q
            # The diagonal has the signs of the householder map: this X is mapped to the identity.
            minus_identity = _VF.zeros_like(initial)
            minus_identity.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return minus_identity
        if self.orthogonal_map != _OrthMaps.householder:
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        A, tau = _VF.geqrf(Q)
        diagonal = A.diagonal(dim1=-2, dim2=-1)
        diagonal.sign_()
        diagonal[tau == 0.0] *= -1  # LAPACK returns exactly zero where there is no reflection
        return A.mT if transposed else A


def orthogonal(
    module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    r"""Keep a matrix orthogonal: :math:`Q^T Q = I`, or :math:`Q Q^T = I` if it has more columns than rows.

    Args:
        module: the module.
        name: the name of the parameter, which is a matrix or a batch of matrices.
        orthogonal_map: ``"matrix_exp"``, ``"cayley"`` or ``"householder"``; None means ``"matrix_exp"`` for square
            matrices and ``"householder"`` for others.
        use_trivialization: whether to multiply by a matrix that is chosen such that the first value can be any.

    Returns:
        The module.

    Raises:
        ValueError: nothing has this name, the tensor has fewer than two dimensions, or the map is unknown.

    Example:
        >>> layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(20, 40))
        >>> torch.allclose(layer.weight.mT @ layer.weight, torch.eye(20), atol=1e-5)
        True

    Mirrors torch/nn/utils/parametrizations.py, ``orthogonal``.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.size(-2) == weight.size(-1) else "householder"
    chosen = getattr(_OrthMaps, orthogonal_map, None)
    if chosen is None:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    orth = _Orthogonal(weight, chosen, use_trivialization=use_trivialization)
    parametrize.register_parametrization(module, name, orth, unsafe=True)
    return module


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return _VF._weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return _VF.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int = 0) -> Module:
    r"""Compute a weight from its length and its direction: :math:`w = g \, v / \|v\|`.

    The originals are :math:`g` and :math:`v`. A state dict of the old ``torch.nn.utils.weight_norm`` can be loaded.

    Args:
        module: the module.
        name: the name of the weight.
        dim: the dimension that keeps its lengths; None for one length of the whole weight.

    Returns:
        The module.

    Example:
        >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(20, 40))
        >>> layer.parametrizations.weight.original0.shape, layer.parametrizations.weight.original1.shape
        (torch.Size([40, 1]), torch.Size([40, 20]))

    Mirrors torch/nn/utils/parametrizations.py, ``weight_norm``.
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        g_key, v_key = f"{prefix}{name}_g", f"{prefix}{name}_v"
        if g_key in state_dict and v_key in state_dict:
            state_dict[f"{prefix}parametrizations.{name}.original0"] = state_dict.pop(g_key)
            state_dict[f"{prefix}parametrizations.{name}.original1"] = state_dict.pop(v_key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    """Divide a weight by its largest singular value: see the formulas in ``spectral_norm.py``."""

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if dim >= ndim or dim < -ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        if ndim > 1:  # the norm of a vector needs no estimate
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            h, w = matrix.size()
            u, v = matrix.new_empty(h).normal_(0, 1), matrix.new_empty(w).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=self.eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=self.eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        if weight.ndim <= 1:
            raise AssertionError(f"Expected weight to have more than 1 dimension, got {weight.ndim}")
        return weight.movedim(self.dim, 0).flatten(1)

    @no_grad()
    def _power_method(self, weight_mat: Tensor, n_power_iterations: int) -> None:
        """Improve the two singular vectors, in place."""
        if weight_mat.ndim <= 1:
            raise AssertionError(f"Expected weight_mat to have more than 1 dimension, got {weight_mat.ndim}")
        for _ in range(n_power_iterations):
            self._u = F.normalize(_VF.mv(weight_mat, self._v), dim=0, eps=self.eps, out=self._u)
            self._v = F.normalize(_VF.mv(weight_mat.mT, self._u), dim=0, eps=self.eps, out=self._v)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # The backward pass of this call needs these values, but the next call changes the buffers.
        u = self._u.clone(memory_format=_C.contiguous_format)
        v = self._v.clone(memory_format=_C.contiguous_format)
        return weight / _VF.dot(u, _VF.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    r"""Divide a weight by its largest singular value: :math:`W / \sigma(W)`.

    Args:
        module: the module.
        name: the name of the weight.
        n_power_iterations: the number of iterations of the power method at each read in training.
        eps: avoids a division by zero.
        dim: the dimension of the outputs; None means 1 for transposed convolutions and 0 for other modules.

    Returns:
        The module.

    Raises:
        ValueError: nothing has this name, or ``n_power_iterations`` is not positive.
        IndexError: ``dim`` is out of range.

    Example:
        >>> layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(20, 40))
        >>> norm = torch.linalg.matrix_norm(layer.weight, 2).item()
        >>> 0.9 < norm < 1.3
        True

    Mirrors torch/nn/utils/parametrizations.py, ``spectral_norm``.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if getattr(module, "transposed", False) else 0
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module
