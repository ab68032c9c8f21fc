"""Asking for the same result each time, and an error where an op cannot promise it.

Mirrors: torch/__init__.py (use_deterministic_algorithms, set_deterministic_debug_mode, set_float32_matmul_precision)
Leaves out: what concerns CUDA and the compiler.
"""

from __future__ import annotations

from reftorch import _C
from reftorch._warnings import warn

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_deterministic_debug_mode",
    "get_float32_matmul_precision",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "use_deterministic_algorithms",
]

_MODES = ("default", "warn", "error")
_PRECISIONS = ("highest", "high", "medium")
_matmul_precision = "highest"


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Say whether ops have to give the same result each time for the same input, on the same machine.

    Most ops of the CPU do so anyway. While the mode is on, one that does not raises; and memory that nobody has
    written, such as that of :func:`empty`, holds NaN or the largest integer, unless
    ``torch.utils.deterministic.fill_uninitialized_memory`` is False.

    Args:
        mode: on or off.
        warn_only: warn instead of raising.

    Raises:
        RuntimeError: later, from an op that is not deterministic: ``put_`` without ``accumulate``.

    Example:
        >>> import reftorch as torch
        >>> torch.use_deterministic_algorithms(True)
        >>> torch.empty(2), torch.empty(1, dtype=torch.int8)
        (tensor([nan, nan]), tensor([127], dtype=torch.int8))
        >>> torch.use_deterministic_algorithms(False)

    Mirrors torch/__init__.py, ``use_deterministic_algorithms``.
    """
    _C._set_deterministic_algorithms(mode, warn_only=warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """Return what :func:`use_deterministic_algorithms` was last told.

    Example:
        >>> import reftorch as torch
        >>> torch.are_deterministic_algorithms_enabled()
        False

    Mirrors torch/__init__.py, ``are_deterministic_algorithms_enabled``.
    """
    return _C._get_deterministic_algorithms()


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return whether an op that is not deterministic warns instead of raising.

    Example:
        >>> import reftorch as torch
        >>> torch.is_deterministic_algorithms_warn_only_enabled()
        False

    Mirrors torch/__init__.py, ``is_deterministic_algorithms_warn_only_enabled``.
    """
    return _C._get_deterministic_algorithms_warn_only()


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Say by one word or number what happens where an op is not deterministic.

    Args:
        debug_mode: "default" or 0, nothing; "warn" or 1, a warning; "error" or 2, an error.

    Raises:
        TypeError: it is neither a string nor an int.
        RuntimeError: it is none of these.

    Example:
        >>> import reftorch as torch
        >>> torch.set_deterministic_debug_mode("warn")
        >>> torch.get_deterministic_debug_mode()
        1
        >>> torch.set_deterministic_debug_mode(0)

    Mirrors torch/__init__.py, ``set_deterministic_debug_mode``.
    """
    if not isinstance(debug_mode, int | str):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(
                f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}"
            )
        debug_mode = _MODES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    _C._set_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode() -> int:
    """Return 0, 1 or 2: nothing, a warning or an error where an op is not deterministic.

    Example:
        >>> import reftorch as torch
        >>> torch.get_deterministic_debug_mode()
        0

    Mirrors torch/__init__.py, ``get_deterministic_debug_mode``.
    """
    if not are_deterministic_algorithms_enabled():
        return 0
    return 1 if is_deterministic_algorithms_warn_only_enabled() else 2


def set_float32_matmul_precision(precision: str) -> None:
    """Say how exact a product of float32 matrices must be; here each is computed in float32, the "highest".

    Args:
        precision: "highest", or "high" or "medium", which allow an accelerator to use fewer bits. Another word is
            warned of and changes nothing.

    Raises:
        RuntimeError: it is no string.

    Example:
        >>> import reftorch as torch
        >>> torch.get_float32_matmul_precision()
        'highest'

    Mirrors torch/__init__.py, ``set_float32_matmul_precision``.
    """
    global _matmul_precision
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}")
    if precision not in _PRECISIONS:
        warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the call to set_float32_matmul_precision has "
            "no effect.",
        )
        return
    _matmul_precision = precision


def get_float32_matmul_precision() -> str:
    """Return what :func:`set_float32_matmul_precision` was last told.

    Example:
        >>> import reftorch as torch
        >>> torch.get_float32_matmul_precision()
        'highest'

    Mirrors torch/__init__.py, ``get_float32_matmul_precision``.
    """
    return _matmul_precision
