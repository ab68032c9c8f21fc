"""Numbers that describe a matrix: norms, condition number, rank, determinant.

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
        ord: the order: ``inf`` is the largest absolute value, ``-inf`` the smallest, 0 the number of nonzero elements.
        dim: the dimensions of the vectors; all of them by default.
        keepdim: keep those dimensions, with size 1.
        dtype: the dtype to compute in.
        out: where to put the result.

    Raises:
        RuntimeError: the elements are not floats, or there are none and the norm of this order is undefined for them.

    Example:
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
        ord: ``"fro"`` is the norm of all elements as one vector, ``"nuc"`` the sum of the singular values; 1 and
            ``inf`` are the largest sum of absolute values of a column and of a row, 2 is the largest singular value;
            -1, ``-inf`` and -2 are the smallest ones.
        dim: the dimensions of the rows and of the columns.
        keepdim: keep those dimensions, with size 1.
        dtype: the dtype to compute in.
        out: where to put the result.

    Raises:
        RuntimeError: the order is unknown, the elements are not floats, or ``dim`` does not name two dimensions.

    Example:
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
        ord: None is the norm of all elements as one vector; for other orders see :func:`vector_norm` and
            :func:`matrix_norm`.
        dim: one dimension for norms of vectors, two for norms of matrices; by default, all dimensions.
        keepdim: keep those dimensions, with size 1.
        out: where to put the result.
        dtype: the dtype to compute in.

    Raises:
        RuntimeError: see the two functions; or ``ord`` is given without ``dim`` and there are over two dimensions.

    Example:
        >>> torch.linalg.norm(torch.ones(2, 2)), torch.linalg.norm(torch.ones(2, 2), 1)
        (tensor(2.), tensor(2.))

    Mirrors torch/linalg/__init__.py, ``norm``.
    """
    return _linalg.linalg_norm(A, ord, dim, keepdim, dtype=dtype, out=out)


def cond(A: Tensor, p: Any = None, *, out: Tensor | None = None) -> Tensor:
    r"""Return the condition numbers of matrices, :math:`\|A\| \|A^{-1}\|`; a singular matrix has ``inf``.

    Args:
        A: matrices of shape (*, m, n); square unless ``p`` is None, 2 or -2.
        p: the order of the norm, as in :func:`matrix_norm`; None means 2.
        out: where to put the result.

    Raises:
        RuntimeError: the matrices are not square, or the order is unknown.

    Example:
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
    r"""Return the ranks of matrices: the number of singular values that exceed :math:`\max(atol, rtol \cdot \sigma_1)`.

    Args:
        A: matrices of shape (*, m, n).
        tol: the older name of ``atol``; ``rtol`` is then 0.
        hermitian: promise that the matrices are symmetric, so that their eigenvalues can be used.
        atol: a number, or a tensor with a number for each matrix; 0 by default.
        rtol: a number or a tensor like ``atol``. The default bounds rounding errors, :math:`\max(m, n) \varepsilon`, or
            is 0 if ``atol`` is above 0.
        out: where to put the result.

    Example:
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
        RuntimeError: the matrices are not square, or not float32 or float64.

    Example:
        >>> torch.linalg.det(torch.tensor([[2.0, 1.0], [0.0, 3.0]]))
        tensor(6.)

    Mirrors torch/linalg/__init__.py, ``det``.
    """
    return _linalg.linalg_det(A, out=out)


def slogdet(A: Tensor, *, out: Any = None) -> Any:
    """Return the sign of the determinants, and the logarithm of their absolute values, which cannot overflow.

    Args:
        A: matrices of shape (*, n, n).
        out: a tuple of tensors for the results.

    Returns:
        A named tuple (sign, logabsdet); a singular matrix has 0 and ``-inf``.

    Raises:
        RuntimeError: the matrices are not square, or not float32 or float64.

    Example:
        >>> sign, logabsdet = torch.linalg.slogdet(-torch.eye(3))
        >>> sign, logabsdet
        (tensor(-1.), tensor(0.))

    Mirrors torch/linalg/__init__.py, ``slogdet``.
    """
    return _linalg.linalg_slogdet(A, out=out)
