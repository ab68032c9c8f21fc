"""The device on which factories make tensors where none is given.

Mirrors: torch/utils/_device.py, get_default_device and set_default_device of torch/__init__.py
Leaves out: every device but the CPU, which is the only one that factories know: another is refused when it is set.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._thread_local import ThreadLocal


class _Defaults(ThreadLocal):
    """Of each thread: what ``set_default_device`` set, and the devices that ``with`` statements have entered."""

    def __init__(self) -> None:
        self.device: Any = None
        self.entered: list[Any] = []


_defaults = _Defaults()


def _checked(device: Any) -> Any:
    device = device if isinstance(device, _C.device) else _C.device(device)
    _C._VariableFunctions.empty(0, device=device)  # where there is no such device, this says so
    return device


def set_default_device(device: Any) -> None:
    """Set the device on which factories make tensors where none is given, for the thread that calls.

    Args:
        device: a device or its name; None is the CPU, as it was to begin with.

    Raises:
        RuntimeError: there is no such device here.

    Example:
        >>> import reftorch as torch
        >>> torch.set_default_device("cpu")
        >>> torch.get_default_device()
        device(type='cpu')

    Mirrors torch/__init__.py, ``set_default_device``.
    """
    _defaults.device = None if device is None else _checked(device)


def get_default_device() -> Any:
    """Return the device on which factories make tensors where none is given.

    Example:
        >>> import reftorch as torch
        >>> with torch.device("cpu:0"):
        ...     torch.get_default_device()
        device(type='cpu', index=0)

    Mirrors torch/__init__.py, ``get_default_device``.
    """
    if _defaults.entered:
        return _defaults.entered[-1]
    return _C.device("cpu") if _defaults.device is None else _defaults.device


# --- what the C++ of torch.device calls, for `with device:` -----------------------------------------------------------


def enter(device: Any) -> Any:
    _defaults.entered.append(_checked(device))
    return device


def leave(device: Any) -> None:
    _defaults.entered.pop()
