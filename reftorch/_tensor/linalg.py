"""Methods of a tensor that are older than ``torch.linalg``: the LU factors, and removed names whose errors say what
replaced them.

Mirrors: torch/_tensor.py (lu, solve, lstsq, eig, symeig, reinforce)
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._utils import _warn_once


def removed(name: str, instead: str) -> RuntimeError:
    """The error of a function that PyTorch has removed: it names the replacement."""
    return RuntimeError(
        f"This function was deprecated since version 1.9 and is now removed. `torch.{name}` is deprecated in favor of "
        f"`torch.{instead}`."
    )


class _TensorLinalg:
    """The methods of :class:`reftorch.Tensor` that this file defines."""

    def lu(self: Any, pivot: bool = True, get_infos: bool = False) -> Any:
        """The LU factors of matrices and the swaps of their rows. Deprecated: use :func:`reftorch.linalg.lu_factor`.

        Args:
            pivot: False (no swaps) needs CUDA.
            get_infos: also return an error code for each matrix, which is 0 unless the matrix is singular.

        Example:
            >>> import warnings
            >>> with warnings.catch_warnings():
            ...     warnings.simplefilter("ignore")
            ...     torch.tensor([[2.0, 0.0], [0.0, 4.0]]).lu()
            (tensor([[2., 0.],
                    [0., 4.]]), tensor([1, 2], dtype=torch.int32))

        Mirrors torch/_tensor.py, ``lu``.
        """
        _warn_once(
            "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be removed "
            "in a future PyTorch release.",
        )
        results = tuple(_C._linalg.linalg_lu_factor_ex(self, pivot=pivot, check_errors=False))
        return results if get_infos else results[:2]

    def solve(self: Any, other: Any) -> Any:
        """Raise an error: :func:`reftorch.linalg.solve` replaces this method, with its arguments in the other order.

        Raises:
            RuntimeError: always.
        """
        raise removed("solve", "linalg.solve")

    def lstsq(self: Any, other: Any) -> Any:
        """Raise an error: :func:`reftorch.linalg.lstsq` replaces this method, with its arguments in the other order.

        Raises:
            RuntimeError: always.
        """
        raise removed("lstsq", "linalg.lstsq")

    def eig(self: Any, eigenvectors: bool = False) -> Any:
        """Raise an error: ``linalg.eig`` replaces this method, and its results are complex numbers.

        Raises:
            RuntimeError: always.
        """
        raise removed("eig", "linalg.eig")

    def symeig(self: Any, eigenvectors: bool = False) -> Any:
        """Raise an error: :func:`reftorch.linalg.eigh` replaces this method; it reads the lower triangle by default.

        Raises:
            RuntimeError: always.
        """
        raise removed("symeig", "linalg.eigh")

    def reinforce(self: Any, reward: Any) -> Any:
        """Raise an error: instead, minimize minus the logarithm of an action's probability times its reward.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("reinforce() was removed. Make a loss of it: -log_probability * reward, and call backward.")
