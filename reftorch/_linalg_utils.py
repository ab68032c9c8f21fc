"""Functions that PyTorch has removed, whose errors name their replacements; and the deprecated ``lu``.

Mirrors: torch/_linalg_utils.py, lu of torch/functional.py
Leaves out: the helpers of lobpcg.
"""

from __future__ import annotations

from typing import Any

from reftorch._tensor import Tensor
from reftorch._tensor.linalg import removed
from reftorch._torch_function import overridable


@overridable
def matrix_rank(input: Tensor, tol: Any = None, symmetric: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Raise an error: :func:`reftorch.linalg.matrix_rank` replaces this function.

    Raises:
        RuntimeError: always.
    """
    raise removed("matrix_rank", "linalg.matrix_rank")


@overridable
def solve(input: Tensor, A: Tensor, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Raise an error: :func:`reftorch.linalg.solve` replaces this function, with its arguments in the other order.

    Raises:
        RuntimeError: always.
    """
    raise removed("solve", "linalg.solve")


@overridable
def lstsq(input: Tensor, A: Tensor, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Raise an error: :func:`reftorch.linalg.lstsq` replaces this function, with its arguments in the other order.

    Raises:
        RuntimeError: always.
    """
    raise removed("lstsq", "linalg.lstsq")


@overridable
def eig(self: Tensor, eigenvectors: bool = False, *, e: Any = None, v: Any = None) -> tuple[Tensor, Tensor]:
    """Raise an error: ``linalg.eig`` replaces this function, and its results are complex numbers.

    Raises:
        RuntimeError: always.
    """
    raise removed("eig", "linalg.eig")


@overridable
def symeig(input: Tensor, eigenvectors: bool = False, upper: bool = True, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Raise an error: :func:`reftorch.linalg.eigh` replaces this function; it reads the lower triangle by default.

    Raises:
        RuntimeError: always.
    """
    raise removed("symeig", "linalg.eigh")


@overridable
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """Return the LU factors of matrices and the swaps of their rows.

    Deprecated, as in PyTorch: use :func:`reftorch.linalg.lu_factor`.

    Args:
        A: matrices of shape (*, m, n).
        pivot: False (no swaps) needs CUDA.
        get_infos: also return an error code for each matrix, which is 0 unless the matrix is singular.
        out: a tuple of tensors for the results.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     torch.lu(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
        (tensor([[2., 0.],
                [0., 4.]]), tensor([1, 2], dtype=torch.int32))

    Mirrors torch/functional.py, ``lu``.
    """
    results = A.lu(pivot, get_infos)
    if out is None:
        return results
    if len(out) != len(results):
        raise TypeError(f"expected tuple of {len(results)} elements but got {len(out)}")
    for place, result in zip(out, results, strict=True):
        place.resize_(result.shape).copy_(result)
    return out
