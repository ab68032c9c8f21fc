"""What one number says about a matrix: norms, condition, rank, determinant.

Mirrors: torch/linalg/__init__.py (cond, det, matrix_norm, matrix_rank, norm, slogdet, vector_norm)
"""

from __future__ import annotations

from typing import Any

from reftorch._C import _linalg
from reftorch._tensor import Tensor


def vector_norm(
    x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None
) -> Tensor:
    r"""Return norms of vectors, :math:`(\sum_i |x_i|^{ord})^{1/ord}`.

    Args:
        x: a tensor of floats.
        ord: the order: ``inf`` is the largest absolute value, ``-inf`` the smallest, 0 the number of elements not zero.
        dim: the dimensions of the vectors; all of them by default.
        keepdim: keep those dimensions, with size 1.
        dtype: the dtype to compute in.
        out: where to put the result.

    Raises:
        RuntimeError: the elements are not floats; there are none, and the order has no norm for that.

    Example:
        >>> import reftorch as torch
        >>> torch.linalg.vector_norm(torch.tensor([3.0, 4.0]))
        tensor(5.)

    Mirrors torch/linalg/__init__.py, ``vector_norm``.
    """
    return _linalg.linalg_vector_norm(x, ord, dim, keepdim, dtype=dtype, out=out)


def matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return norms of matrices.

    Args:
        A: a tensor of floats with two dimensions or more.
        ord: ``"fro"`` (of all elements as one vector), ``"nuc"`` (the sum of the singular values), 1 or ``inf`` (the
            largest sum of absolute values of a column, or of a row), 2 (the largest singular value); the negative ones
            are the smallest.
        dim: the dimensions of the rows and of the columns.
        keepdim: keep those dimensions, with size 1.
        dtype: the dtype to compute in.
        out: where to put the result.

    Raises:
        RuntimeError: there is no such order, the elements are not floats, or the dimensions are not two.

    Example:
        >>> import reftorch as torch
        >>> torch.linalg.matrix_norm(torch.tensor([[1.0, 2.0], [-3.0, 4.0]]), ord=1)
        tensor(6.)

    Mirrors torch/linalg/__init__.py, ``matrix_norm``.
    """
    return _linalg.linalg_matrix_norm(A, ord, dim, keepdim, dtype=dtype, out=out)


def norm(
    A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, out: Tensor | None = None, dtype: Any = None
) -> Tensor:
    """Return a norm of vectors or of matrices.

    Args:
        A: a tensor of floats.
        ord: None is the norm of all elements as one vector; else as in :func:`vector_norm` and :func:`matrix_norm`.
        dim: one dimension: of vectors; two: of matrices. Without it, the tensor is one vector, or one matrix.
        keepdim: keep those dimensions, with size 1.
        out: where to put the result.
        dtype: the dtype to compute in.

    Raises:
        RuntimeError: as of the two functions; or ``ord`` without ``dim`` for a tensor of more than two dimensions.

    Example:
        >>> import reftorch as torch
        >>> torch.linalg.norm(torch.ones(2, 2)), torch.linalg.norm(torch.ones(2, 2), 1)
        (tensor(2.), tensor(2.))

    Mirrors torch/linalg/__init__.py, ``norm``.
    """
    return _linalg.linalg_norm(A, ord, dim, keepdim, dtype=dtype, out=out)


def cond(A: Tensor, p: Any = None, *, out: Tensor | None = None) -> Tensor:
    r"""Return the condition numbers of matrices, :math:`\|A\| \|A^{-1}\|`; ``inf`` for a singular one.

    Args:
        A: matrices of shape (*, m, n); square unless ``p`` is None, 2 or -2.
        p: the norm, as in :func:`matrix_norm`; None is 2.
        out: where to put the result.

    Raises:
        RuntimeError: the matrices are not square, or there is no such norm.

    Example:
        >>> import reftorch as torch
        >>> torch.linalg.cond(torch.tensor([[2.0, 0.0], [0.0, 1.0]]), 1)
        tensor(2.)

    Mirrors torch/linalg/__init__.py, ``cond``.
    """
    return _linalg.linalg_cond(A, p, out=out)


def matrix_rank(
    A: Tensor,
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
    out: Tensor | None = None,
) -> Tensor:
    r"""Return the ranks of matrices: how many singular values exceed :math:`\max(atol, rtol \cdot \sigma_1)`.

    Args:
        A: matrices of shape (*, m, n).
        tol: the older name of ``atol``, with ``rtol`` 0.
        hermitian: the matrices are symmetric: their eigenvalues serve.
        atol: a number, or a tensor of one for each matrix; 0 by default.
        rtol: likewise; by default what rounding may leave, :math:`\max(m, n) \varepsilon`, unless ``atol`` is above 0.
        out: where to put the result.

    Example:
        >>> import reftorch as torch
        >>> torch.linalg.matrix_rank(torch.ones(3, 3))
        tensor(1)

    Mirrors torch/linalg/__init__.py, ``matrix_rank``.
    """
    if tol is not None:
        return _linalg.linalg_matrix_rank(A, tol, hermitian, out=out)
    return _linalg.linalg_matrix_rank(A, atol=atol, rtol=rtol, hermitian=hermitian, out=out)


def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the determinants of square matrices.

    Args:
        A: matrices of shape (*, n, n).
        out: where to put the result.

    Raises:
        RuntimeError: the matrices are not square, or not of float32 or float64.

    Example:
        >>> import reftorch as torch
        >>> torch.linalg.det(torch.tensor([[2.0, 1.0], [0.0, 3.0]]))
        tensor(6.)

    Mirrors torch/linalg/__init__.py, ``det``.
    """
    return _linalg.linalg_det(A, out=out)


def slogdet(A: Tensor, *, out: Any = None) -> Any:
    """Return the sign of the determinants and the logarithm of their absolute values, which does not overflow.

    Args:
        A: matrices of shape (*, n, n).
        out: a tuple: where to put the results.

    Returns:
        A named tuple (sign, logabsdet), of 0 and ``-inf`` for a singular matrix.

    Raises:
        RuntimeError: the matrices are not square, or not of float32 or float64.

    Example:
        >>> import reftorch as torch
        >>> sign, logabsdet = torch.linalg.slogdet(-torch.eye(3))
        >>> sign, logabsdet
        (tensor(-1.), tensor(0.))

    Mirrors torch/linalg/__init__.py, ``slogdet``.
    """
    return _linalg.linalg_slogdet(A, out=out)
