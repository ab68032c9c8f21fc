"""The memory that the caching allocator holds on each device.

Mirrors: torch/cuda/memory.py
Leaves out: snapshots, limits for a process, memory pools.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch.cuda._device import _device_index, is_initialized

__all__ = [
    "empty_cache",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
]


def empty_cache() -> None:
    """Return the memory that no tensor uses to CUDA.

    Mirrors torch/cuda/memory.py, ``empty_cache``.
    """
    if is_initialized():
        _C._cuda_emptyCache()


def memory_stats(device: Any = None) -> dict[str, int]:
    """Return the allocator's counters for a device, in bytes, or an empty dict if CUDA has not been started.

    Mirrors torch/cuda/memory.py, ``memory_stats``.
    """
    return _C._cuda_memoryStats(_device_index(device)) if is_initialized() else {}


def reset_peak_memory_stats(device: Any = None) -> None:
    """Set the peak counters of a device to the current values.

    Mirrors torch/cuda/memory.py, ``reset_peak_memory_stats``.
    """
    index = _device_index(device)
    _C._cuda_resetPeakMemoryStats(index)


def memory_allocated(device: Any = None) -> int:
    """Return the number of bytes that tensors use on a device.

    Mirrors torch/cuda/memory.py, ``memory_allocated``.
    """
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device: Any = None) -> int:
    """Return the largest number of bytes that tensors have used on a device.

    Mirrors torch/cuda/memory.py, ``max_memory_allocated``.
    """
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device: Any = None) -> int:
    """Return the number of bytes of a device that the allocator holds, for tensors and as cached blocks.

    Mirrors torch/cuda/memory.py, ``memory_reserved``.
    """
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device: Any = None) -> int:
    """Return the largest number of bytes of a device that the allocator has held.

    Mirrors torch/cuda/memory.py, ``max_memory_reserved``.
    """
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return the number of free bytes and of all bytes of a device, as CUDA reports them.

    Mirrors torch/cuda/memory.py, ``mem_get_info``.
    """
    index = _device_index(device)
    return _C._cuda_memGetInfo(index)
