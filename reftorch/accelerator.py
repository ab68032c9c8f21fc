"""What a program asks before it uses an accelerator of any kind; the answer is that there is none.

Mirrors: torch/accelerator/__init__.py
Leaves out: accelerators: their streams, memory and indices.
"""

from __future__ import annotations

from typing import Any

__all__ = ["current_accelerator", "device_count", "is_available", "synchronize"]


def is_available() -> bool:
    """Return whether there is an accelerator: no.

    Example:
        >>> import reftorch as torch
        >>> torch.accelerator.is_available(), torch.accelerator.current_accelerator()
        (False, None)

    Mirrors torch/accelerator/__init__.py, ``is_available``.
    """
    return False


def device_count() -> int:
    """Return how many accelerators there are: 0.

    Mirrors torch/accelerator/__init__.py, ``device_count``.
    """
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """Return the device of the kind of accelerator that there is: None.

    Mirrors torch/accelerator/__init__.py, ``current_accelerator``.
    """
    return None


def synchronize(device: Any = None, /) -> None:
    """Wait until an accelerator has done what it was told.

    Raises:
        RuntimeError: always: there is none.

    Mirrors torch/accelerator/__init__.py, ``synchronize``.
    """
    raise RuntimeError("Cannot access accelerator device when none is available.")
