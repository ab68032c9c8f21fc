"""The older names of autocast's state, one for each type of device. Each warns, and calls its successor.

Mirrors: torch/csrc/autograd/init.cpp
Leaves out: the names of IPU and XLA, which are devices that do not exist here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch._warnings import warn

__all__ = [
    "get_autocast_cpu_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_cpu_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_gpu_dtype",
]


def _warn(name: str, successor: str) -> None:
    warn(f"torch.{name} is deprecated. Please use torch.{successor} instead.", DeprecationWarning)


def _require(value: Any, kind: type, name: str, of: str) -> None:
    if not isinstance(value, kind):
        given = "torch.dtype" if isinstance(value, _C.dtype) else type(value).__name__
        raise TypeError(f"{name} must be a {of} (got {given})")


def _getter(kind: str, name: str, get: Callable[[str], Any], successor: str) -> Callable[[], Any]:
    def getter() -> Any:
        _warn(f"{name}()", f"{successor}({kind!r})")
        return get(kind)

    getter.__name__ = getter.__qualname__ = name
    getter.__doc__ = f"""Return ``torch.{successor}({kind!r})``, with a DeprecationWarning.

    Mirrors torch/csrc/autograd/init.cpp, ``{name}``.
    """
    return getter


get_autocast_cpu_dtype = _getter("cpu", "get_autocast_cpu_dtype", _C._get_autocast_dtype, "get_autocast_dtype")
get_autocast_gpu_dtype = _getter("cuda", "get_autocast_gpu_dtype", _C._get_autocast_dtype, "get_autocast_dtype")
is_autocast_cpu_enabled = _getter("cpu", "is_autocast_cpu_enabled", _C._is_autocast_enabled, "is_autocast_enabled")


def set_autocast_cpu_dtype(dtype: Any) -> None:
    """Call ``torch.set_autocast_dtype('cpu', dtype)``, with a DeprecationWarning.

    Raises:
        TypeError: ``dtype`` is no dtype.

    Mirrors torch/csrc/autograd/init.cpp, ``set_autocast_cpu_dtype``.
    """
    _require(dtype, _C.dtype, "dtype", "torch.dtype")
    _warn("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    _C._set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype: Any) -> None:
    """Call ``torch.set_autocast_dtype('cuda', dtype)``, with a DeprecationWarning.

    Raises:
        TypeError: ``dtype`` is no dtype.

    Mirrors torch/csrc/autograd/init.cpp, ``set_autocast_gpu_dtype``.
    """
    _require(dtype, _C.dtype, "dtype", "torch.dtype")
    _warn("set_autocast_gpu_dtype(dtype)", "set_autocast_dtype('cuda', dtype)")
    _C._set_autocast_dtype("cuda", dtype)


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """Call ``torch.set_autocast_enabled('cpu', enabled)``, with a DeprecationWarning.

    Raises:
        TypeError: ``enabled`` is no bool.

    Mirrors torch/csrc/autograd/init.cpp, ``set_autocast_cpu_enabled``.
    """
    _require(enabled, bool, "enabled", "bool")
    _warn("set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)")
    _C._set_autocast_enabled("cpu", enabled)
