"""Norms under their older names, and the distances of all pairs of points.

Mirrors: torch/functional.py (cdist), aten/src/ATen/native/LinearAlgebra.cpp (nuclear_norm, frobenius_norm)
"""

from __future__ import annotations

from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable, overridable_as_called
from reftorch._warnings import warn

__all__ = ["cdist", "frobenius_norm", "norm", "nuclear_norm"]


@overridable_as_called
def nuclear_norm(input: Tensor, dim: Any = (-2, -1), keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Return the sums of the singular values of matrices. Deprecated: use :func:`reftorch.linalg.matrix_norm`.

    Args:
        input: floats, of two dimensions or more.
        dim: the dimensions of the rows and of the columns; without them, ``input`` must be one matrix.
        keepdim: keep the reduced dimensions, with size 1. A bool may also stand in the place of ``dim``.
        out: where to put the result.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     torch.nuclear_norm(torch.eye(3))
        tensor(3.)

    Mirrors aten/src/ATen/native/LinearAlgebra.cpp, ``nuclear_norm``.
    """
    _warn_old("nuclear_norm", "linalg.matrix_norm(A, 'nuc', dim, keepdim)")
    dim, keepdim = ((-2, -1), dim) if isinstance(dim, bool) else (dim, keepdim)
    return _C._linalg.linalg_matrix_norm(input, "nuc", dim, keepdim, out=out)


@overridable_as_called
def frobenius_norm(input: Tensor, dim: Any, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Return the root of the sum of squares along ``dim``. Deprecated: use :func:`reftorch.linalg.vector_norm`.

    Args:
        input: floats.
        dim: one dimension or two; an empty list means all.
        keepdim: keep the reduced dimensions, with size 1.
        out: where to put the result.

    Raises:
        RuntimeError: there are more than two dimensions.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     torch.frobenius_norm(torch.tensor([[3.0, 4.0]]), dim=1)
        tensor([5.])

    Mirrors aten/src/ATen/native/LinearAlgebra.cpp, ``frobenius_norm``.
    """
    _warn_old("frobenius_norm", "linalg.vector_norm(A, 2., dim, keepdim)")
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dims) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dims)} dimensions instead.")
    return _C._linalg.linalg_vector_norm(input, 2.0, dims or None, keepdim, out=out)


def _warn_old(name: str, instead: str) -> None:
    warn(
        f"at::{name} is deprecated and it is just left for JIT compatibility. It will be removed in a future PyTorch "
        f"release. Please use `{instead}` instead",
    )


_DISTANCE_MODES = {
    "use_mm_for_euclid_dist_if_necessary": None,
    "use_mm_for_euclid_dist": 1,
    "donot_use_mm_for_euclid_dist": 2,
}


@overridable
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    r"""Return the distances :math:`\|x_{1i} - x_{2j}\|_p` of all pairs of rows.

    Args:
        x1: points of shape (*, n, d).
        x2: points of shape (*, m, d).
        p: the order of the norm, 0 or more; ``inf`` is the largest difference.
        compute_mode: whether Euclidean distances come from a matrix product, which is faster and less exact:
            ``"use_mm_for_euclid_dist_if_necessary"`` if ``x1`` or ``x2`` has more than 25 points,
            ``"use_mm_for_euclid_dist"`` always, ``"donot_use_mm_for_euclid_dist"`` never.

    Returns:
        A tensor of shape (*, n, m).

    Raises:
        ValueError: ``compute_mode`` is unknown.
        RuntimeError: the points have different numbers of coordinates, or are not floats.

    Example:
        >>> torch.cdist(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [1.0, 0.0]]))
        tensor([[5., 1.]])

    Mirrors torch/functional.py, ``cdist``.
    """
    if compute_mode not in _DISTANCE_MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return _VF.cdist(x1, x2, p, _DISTANCE_MODES[compute_mode])


@overridable
def norm(
    input: Tensor,
    p: float | str | None = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: Any = None,
) -> Tensor:
    r"""Return the norm :math:`(\sum |x|^p)^{1/p}` of all elements, or along ``dim``.

    Args:
        input: floating-point tensor.
        p: a number; ``inf`` is the largest absolute value, ``-inf`` the smallest, 0 the number of nonzero elements;
            ``"fro"`` means 2;
            ``"nuc"`` is the sum of a matrix's singular values.
        dim: the dimension or dimensions to reduce; all by default.
        keepdim: keep the reduced dimensions, with size 1.
        out: where to put the result.
        dtype: the dtype to compute in.

    Raises:
        RuntimeError: ``input`` holds integers, or an extremum of no elements is asked for.

    Example:
        >>> torch.norm(torch.tensor([[3.0, 4.0], [0.0, 2.0]]), dim=1)
        tensor([5., 2.])

    Mirrors torch/functional.py, ``norm``.
    """
    result = input.norm(p, dim, keepdim, dtype)
    if out is None:
        return result
    if out.dtype != result.dtype:
        raise RuntimeError(f"Expected out tensor to have dtype {result.dtype}, but got {out.dtype} instead")
    return out.resize_(result.shape).copy_(result)
