"""Deterministic mode: ops give the same result each time, or raise an error if they cannot.

Mirrors: torch/__init__.py (use_deterministic_algorithms, set_deterministic_debug_mode, set_float32_matmul_precision)
Leaves out: settings of CUDA and of the compiler.
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

# The newer API: how exact float32 must be for one kind of work, "none" (not chosen), "ieee" or "tf32". Like the older
# switches, it changes nothing here. Products and convolutions are computed in float32.
fp32_precision = {"cuda.matmul": "none", "cudnn.conv": "tf32", "cudnn.rnn": "tf32"}


def set_fp32_precision(work: str, value: str) -> None:
    """Choose how exact float32 must be for one kind of work. Raises RuntimeError if the word is not known."""
    if value not in ("none", "ieee", "tf32", "bf16"):
        raise RuntimeError(f"Invalid precision: {value!r}; expected 'none', 'ieee', 'tf32' or 'bf16'")
    fp32_precision[work] = value


def check_one_api(new: bool, legacy: bool, work: str) -> None:
    """Raise RuntimeError if the newer and the older switch of TF32 disagree, because a program has used both."""
    if new != legacy:
        raise RuntimeError(
            f"PyTorch is checking whether TF32 is allowed for {work}. Current status indicate that you have used mix "
            "of the legacy and new APIs to set the TF32 status. We suggest only using the new API, fp32_precision."
        )


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Choose whether ops must give the same result each time for the same input, on the same machine.

    Most ops on the CPU do so anyway. While the mode is on, the others raise an error. Uninitialized memory, such as
    that of :func:`empty`, is then filled with NaN or the largest integer, unless
    ``torch.utils.deterministic.fill_uninitialized_memory`` is False.

    Args:
        mode: whether the mode is on.
        warn_only: warn instead of raising an error.

    Raises:
        RuntimeError: (later) an op is not deterministic, such as ``put_`` without ``accumulate``.

    Example:
        >>> torch.use_deterministic_algorithms(True)
        >>> torch.empty(2), torch.empty(1, dtype=torch.int8)
        (tensor([nan, nan]), tensor([127], dtype=torch.int8))
        >>> torch.use_deterministic_algorithms(False)

    Mirrors torch/__init__.py, ``use_deterministic_algorithms``.
    """
    _C._set_deterministic_algorithms(mode, warn_only=warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """Return the ``mode`` of the last call of :func:`use_deterministic_algorithms`.

    Example:
        >>> torch.are_deterministic_algorithms_enabled()
        False

    Mirrors torch/__init__.py, ``are_deterministic_algorithms_enabled``.
    """
    return _C._get_deterministic_algorithms()


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return whether a nondeterministic op warns instead of raising an error.

    Example:
        >>> torch.is_deterministic_algorithms_warn_only_enabled()
        False

    Mirrors torch/__init__.py, ``is_deterministic_algorithms_warn_only_enabled``.
    """
    return _C._get_deterministic_algorithms_warn_only()


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Choose by a word or a number what a nondeterministic op does.

    Args:
        debug_mode: "default" or 0, nothing; "warn" or 1, a warning; "error" or 2, an error.

    Raises:
        TypeError: ``debug_mode`` is neither a string nor an int.
        RuntimeError: ``debug_mode`` is none of these.

    Example:
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
    """Return 0, 1 or 2: a nondeterministic op does nothing special, warns, or raises an error.

    Example:
        >>> torch.get_deterministic_debug_mode()
        0

    Mirrors torch/__init__.py, ``get_deterministic_debug_mode``.
    """
    if not are_deterministic_algorithms_enabled():
        return 0
    return 1 if is_deterministic_algorithms_warn_only_enabled() else 2


def set_float32_matmul_precision(precision: str) -> None:
    """Choose how exact products of float32 matrices must be. Here they are always computed in float32, the "highest".

    Args:
        precision: "highest"; or "high" or "medium", which allow an accelerator to use fewer bits. Another word gives a
            warning and changes nothing.

    Raises:
        RuntimeError: ``precision`` is not a string.

    Example:
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
    fp32_precision["cuda.matmul"] = "ieee" if precision == "highest" else "tf32"


def get_float32_matmul_precision() -> str:
    """Return the ``precision`` of the last call of :func:`set_float32_matmul_precision`.

    Example:
        >>> torch.get_float32_matmul_precision()
        'highest'

    Raises:
        RuntimeError: ``torch.backends.cuda.matmul.fp32_precision`` says something else.

    Mirrors torch/__init__.py, ``get_float32_matmul_precision``.
    """
    check_one_api(fp32_precision["cuda.matmul"] == "tf32", _matmul_precision != "highest", "matmul")
    return _matmul_precision
