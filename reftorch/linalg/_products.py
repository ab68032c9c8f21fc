"""Products of vectors and matrices, and diagonals.

Mirrors: torch/linalg/__init__.py (cross, diagonal, matmul, matrix_exp, matrix_power, multi_dot, vander, vecdot)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reftorch._C import _linalg
from reftorch._tensor import Tensor


def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    r"""Return the cross products of vectors of three elements, :math:`x \times y`.

    Args:
        input: vectors along ``dim``, which has size 3.
        other: vectors along ``dim``; the other dimensions broadcast.
        dim: the dimension of the vectors.
        out: where to put the result.

    Raises:
        RuntimeError: the size of ``dim`` is not 3.

    Example:
        >>> torch.linalg.cross(torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0.0, 1.0, 0.0]))
        tensor([0., 0., 1.])

    Mirrors torch/linalg/__init__.py, ``cross``.
    """
    return _linalg.linalg_cross(input, other, dim=dim, out=out)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return the diagonals of matrices as a view: :func:`reftorch.diagonal` of the last two dimensions.

    Args:
        A: matrices of shape (*, m, n).
        offset: the number of places above the main diagonal; a negative number is below.
        dim1: the dimension of the rows.
        dim2: the dimension of the columns.

    Example:
        >>> torch.linalg.diagonal(torch.eye(2).expand(3, 2, 2)).shape
        torch.Size([3, 2])

    Mirrors torch/linalg/__init__.py, ``diagonal``.
    """
    return _linalg.linalg_diagonal(A, offset=offset, dim1=dim1, dim2=dim2)


def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the product of two tensors, as :func:`reftorch.matmul` does.

    Args:
        input: a vector, a matrix or a batch of matrices.
        other: a vector, a matrix or a batch of matrices.
        out: where to put the result.

    Example:
        >>> torch.linalg.matmul(torch.ones(2, 3), torch.ones(3))
        tensor([3., 3.])

    Mirrors torch/linalg/__init__.py, ``matmul``.
    """
    return _linalg.linalg_matmul(input, other, out=out)


def matrix_exp(A: Tensor) -> Tensor:
    r"""Return the exponential of square matrices, :math:`\sum_k A^k / k!`.

    Args:
        A: matrices of shape (*, n, n).

    Raises:
        RuntimeError: the matrices are not square, or not floats.

    Example:
        >>> torch.linalg.matrix_exp(torch.zeros(2, 2))
        tensor([[1., 0.],
                [0., 1.]])

    Mirrors torch/linalg/__init__.py, ``matrix_exp``.
    """
    return _linalg.linalg_matrix_exp(A)


def matrix_power(A: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """Return the n-th power of square matrices; a negative n takes the power of the inverse.

    Args:
        A: matrices of shape (*, m, m).
        n: the exponent.
        out: where to put the result.

    Raises:
        RuntimeError: the matrices are not square.
        LinAlgError: n is negative and a matrix is singular.

    Example:
        >>> torch.linalg.matrix_power(torch.tensor([[1, 1], [1, 0]]), 10)
        tensor([[89, 55],
                [55, 34]])

    Mirrors torch/linalg/__init__.py, ``matrix_power``.
    """
    return _linalg.linalg_matrix_power(A, n, out=out)


def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Return the product of several matrices, in the order that takes the fewest multiplications.

    Args:
        tensors: two or more matrices; each has as many rows as the previous one has columns. The first may be a vector,
            which counts as a row, and the last may be a vector, which counts as a column.
        out: where to put the result.

    Raises:
        RuntimeError: there are fewer than two tensors, or two shapes do not match.

    Example:
        >>> torch.linalg.multi_dot([torch.ones(2, 5), torch.ones(5, 5), torch.ones(5)])
        tensor([25., 25.])

    Mirrors torch/linalg/__init__.py, ``multi_dot``.
    """
    return _linalg.linalg_multi_dot(tensors, out=out)


def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    r"""Return the Vandermonde matrices of vectors: the element at :math:`(i, j)` is :math:`x_i^j`.

    Args:
        x: vectors of shape (*, n).
        N: the number of columns; n by default.

    Raises:
        RuntimeError: ``N`` is less than two.

    Example:
        >>> torch.linalg.vander(torch.tensor([1, 2, 3]))
        tensor([[1, 1, 1],
                [1, 2, 4],
                [1, 3, 9]])

    Mirrors torch/linalg/__init__.py, ``vander``.
    """
    return _linalg.linalg_vander(x, N=N)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Any:
    """Return the dot products of vectors along a dimension.

    Args:
        x: vectors along ``dim``.
        y: vectors along ``dim``; the shapes broadcast.
        dim: the dimension of the vectors.
        out: where to put the result.

    Raises:
        RuntimeError: the elements are not floats.

    Example:
        >>> torch.linalg.vecdot(torch.ones(2, 3), torch.ones(3))
        tensor([3., 3.])

    Mirrors torch/linalg/__init__.py, ``vecdot``.
    """
    return _linalg.linalg_vecdot(x, y, dim=dim, out=out)
