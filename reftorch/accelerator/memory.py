"""The memory of the accelerator, of whatever kind.

Mirrors: torch/accelerator/memory.py
Leaves out: accelerators other than CUDA.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from reftorch import _C
from reftorch.accelerator._utils import _index_of

__all__ = [
    "empty_cache",
    "empty_host_cache",
    "get_memory_info",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
]


def _cuda() -> ModuleType:
    """Return the module that asks the allocator; the accelerator is a CUDA device.

    Raises:
        RuntimeError: there is no accelerator.
    """
    if _C._accelerator_getAccelerator() is None:
        raise RuntimeError("Cannot access accelerator device when none is available.")
    from reftorch.cuda import memory

    return memory


def _on(device_index: Any) -> Any:
    """Return the device for a function of ``torch.cuda``; None is the current one."""
    index = _index_of(device_index, optional=True)
    return None if index < 0 else index


def empty_cache() -> None:
    """Return the memory that no tensor uses to the accelerator.

    Raises:
        RuntimeError: there is no accelerator.

    Mirrors torch/accelerator/memory.py, ``empty_cache``.
    """
    _cuda().empty_cache()


def empty_host_cache() -> None:
    """Return the pinned memory that no tensor uses to the host; the memory of the devices as well.

    Raises:
        RuntimeError: there is no accelerator.

    Mirrors torch/accelerator/memory.py, ``empty_host_cache``.
    """
    _cuda().empty_cache()


def memory_stats(device_index: Any = None, /) -> dict[str, Any]:
    """Return the allocator's counters for a device, see :func:`torch.cuda.memory_stats`.

    Args:
        device_index: a device, or its number; the current one if None.

    Raises:
        RuntimeError: there is no accelerator.

    Mirrors torch/accelerator/memory.py, ``memory_stats``.
    """
    return _cuda().memory_stats(_on(device_index))


def memory_allocated(device_index: Any = None, /) -> int:
    """Return the number of bytes that tensors use on a device.

    Mirrors torch/accelerator/memory.py, ``memory_allocated``.
    """
    return _cuda().memory_allocated(_on(device_index))


def max_memory_allocated(device_index: Any = None, /) -> int:
    """Return the largest number of bytes that tensors have used on a device.

    Mirrors torch/accelerator/memory.py, ``max_memory_allocated``.
    """
    return _cuda().max_memory_allocated(_on(device_index))


def memory_reserved(device_index: Any = None, /) -> int:
    """Return the number of bytes of a device that the allocator holds, for tensors and as cached blocks.

    Mirrors torch/accelerator/memory.py, ``memory_reserved``.
    """
    return _cuda().memory_reserved(_on(device_index))


def max_memory_reserved(device_index: Any = None, /) -> int:
    """Return the largest number of bytes of a device that the allocator has held.

    Mirrors torch/accelerator/memory.py, ``max_memory_reserved``.
    """
    return _cuda().max_memory_reserved(_on(device_index))


def reset_accumulated_memory_stats(device_index: Any = None, /) -> None:
    """Set the sums of increases and decreases of a device's counters to 0, and the simple counters, too.

    Mirrors torch/accelerator/memory.py, ``reset_accumulated_memory_stats``.
    """
    _cuda().reset_accumulated_memory_stats(_on(device_index))


def reset_peak_memory_stats(device_index: Any = None, /) -> None:
    """Set the peak counters of a device to the current values.

    Mirrors torch/accelerator/memory.py, ``reset_peak_memory_stats``.
    """
    _cuda().reset_peak_memory_stats(_on(device_index))


def get_memory_info(device_index: Any = None, /) -> tuple[int, int]:
    """Return the number of free bytes and of all bytes of a device.

    Mirrors torch/accelerator/memory.py, ``get_memory_info``.
    """
    return _cuda().mem_get_info(_on(device_index))
