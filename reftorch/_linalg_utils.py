"""Functions that PyTorch has removed, whose names say what to call in their place, and the old name of the LU factors.

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
    """Refuse, as PyTorch does: use :func:`reftorch.linalg.matrix_rank`.

    Raises:
        RuntimeError: always.
    """
    raise removed("matrix_rank", "linalg.matrix_rank")


@overridable
def solve(input: Tensor, A: Tensor, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Refuse, as PyTorch does: use :func:`reftorch.linalg.solve`, which takes its arguments the other way round.

    Raises:
        RuntimeError: always.
    """
    raise removed("solve", "linalg.solve")


@overridable
def lstsq(input: Tensor, A: Tensor, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Refuse, as PyTorch does: use :func:`reftorch.linalg.lstsq`, which takes its arguments the other way round.

    Raises:
        RuntimeError: always.
    """
    raise removed("lstsq", "linalg.lstsq")


@overridable
def eig(self: Tensor, eigenvectors: bool = False, *, e: Any = None, v: Any = None) -> tuple[Tensor, Tensor]:
    """Refuse, as PyTorch does: use ``linalg.eig``, whose results are complex numbers.

    Raises:
        RuntimeError: always.
    """
    raise removed("eig", "linalg.eig")


@overridable
def symeig(input: Tensor, eigenvectors: bool = False, upper: bool = True, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Refuse, as PyTorch does: use :func:`reftorch.linalg.eigh`, which reads the lower triangle by default.

    Raises:
        RuntimeError: always.
    """
    raise removed("symeig", "linalg.eigh")


@overridable
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """Return the LU factors of matrices and the swaps of their rows. Deprecated, as in PyTorch.

    Args:
        A: matrices of shape (*, m, n).
        pivot: False, without swaps, needs CUDA.
        get_infos: also return, for each matrix, a number that is 0 where it is not singular.
        out: a tuple: where to put the results. :func:`reftorch.linalg.lu_factor` does the same.

    Example:
        >>> import warnings, reftorch as torch
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
