"""Switches of cuDNN; they have no effect, but programs set them.

Mirrors: torch/backends/cudnn/__init__.py
Leaves out: the library itself.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from reftorch import _determinism

enabled = True
deterministic = False
benchmark = False
_tf32_allowed = True


class _Precision:
    """How exact float32 must be in convolutions, or in recurrent layers; it changes nothing."""

    def __init__(self, work: str) -> None:
        self._work = work

    @property
    def fp32_precision(self) -> str:
        """``"ieee"``, ``"tf32"`` or ``"none"``, which leaves the choice."""
        return _determinism.fp32_precision[self._work]

    @fp32_precision.setter
    def fp32_precision(self, value: str) -> None:
        _determinism.set_fp32_precision(self._work, value)


conv = _Precision("cudnn.conv")
rnn = _Precision("cudnn.rnn")


class _Cudnn(ModuleType):
    """The class of this module, whose attribute ``allow_tf32`` is one switch with those of ``conv`` and ``rnn``."""

    @property
    def allow_tf32(self) -> bool:
        for part in (conv, rnn):
            _determinism.check_one_api(part.fp32_precision == "tf32", _tf32_allowed, "cuDNN")
        return _tf32_allowed

    @allow_tf32.setter
    def allow_tf32(self, value: bool) -> None:
        global _tf32_allowed
        _tf32_allowed = value
        conv.fp32_precision = rnn.fp32_precision = "tf32" if value else "none"


sys.modules[__name__].__class__ = _Cudnn


def is_available() -> bool:
    """Return whether cuDNN is available: always False.

    Example:
        >>> torch.backends.cudnn.benchmark = True  # changes nothing
        >>> torch.backends.cudnn.is_available()
        False
        >>> torch.backends.cudnn.benchmark = False

    Mirrors torch/backends/cudnn/__init__.py, ``is_available``.
    """
    return False


def version() -> None:
    """Return the version of cuDNN: always None.

    Mirrors torch/backends/cudnn/__init__.py, ``version``.
    """
    return None


def set_flags(
    _enabled: bool | None = None,
    _benchmark: bool | None = None,
    _benchmark_limit: int | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str | None = "none",
    _depthwise_kernel: str | None = None,
) -> tuple[Any, ...]:
    """Set the switches that are not None; the limit of benchmarks and the last two do not exist here.

    Returns:
        The former values, in the order of the arguments.

    Mirrors torch/backends/cudnn/__init__.py, ``set_flags``.
    """
    global enabled, benchmark, deterministic
    module: Any = sys.modules[__name__]
    former = (enabled, benchmark, None, deterministic, module.allow_tf32, "none", "auto")
    enabled = enabled if _enabled is None else _enabled
    benchmark = benchmark if _benchmark is None else _benchmark
    deterministic = deterministic if _deterministic is None else _deterministic
    if _allow_tf32 is not None:
        module.allow_tf32 = _allow_tf32
    return former


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
    depthwise_kernel: str = "auto",
) -> Iterator[None]:
    """Return a context with these switches; its end restores the former ones. See :func:`set_flags`.

    Example:
        >>> with torch.backends.cudnn.flags(deterministic=True):
        ...     torch.backends.cudnn.deterministic, torch.backends.cudnn.enabled
        (True, False)
        >>> torch.backends.cudnn.deterministic, torch.backends.cudnn.enabled
        (False, True)

    Mirrors torch/backends/cudnn/__init__.py, ``flags``.
    """
    former = set_flags(enabled, benchmark, benchmark_limit, deterministic, allow_tf32, fp32_precision, depthwise_kernel)
    try:
        yield
    finally:
        set_flags(*former)
