"""What the allocator holds of each device's memory.

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
    """Give the memory that no tensor uses back to CUDA.

    Mirrors torch/cuda/memory.py, ``empty_cache``.
    """
    if is_initialized():
        _C._cuda_emptyCache()


def memory_stats(device: Any = None) -> dict[str, int]:
    """Return the allocator's counters for a device, in bytes; an empty dict where CUDA has not been started.

    Mirrors torch/cuda/memory.py, ``memory_stats``.
    """
    return _C._cuda_memoryStats(_device_index(device)) if is_initialized() else {}


def reset_peak_memory_stats(device: Any = None) -> None:
    """Let the peaks start anew at what is in use now.

    Mirrors torch/cuda/memory.py, ``reset_peak_memory_stats``.
    """
    _C._cuda_resetPeakMemoryStats(_device_index(device))


def memory_allocated(device: Any = None) -> int:
    """Return how many bytes tensors take on a device.

    Mirrors torch/cuda/memory.py, ``memory_allocated``.
    """
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device: Any = None) -> int:
    """Return how many bytes tensors have taken at most on a device.

    Mirrors torch/cuda/memory.py, ``max_memory_allocated``.
    """
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device: Any = None) -> int:
    """Return how many bytes of a device the allocator holds: those of tensors, and those it keeps for the next ones.

    Mirrors torch/cuda/memory.py, ``memory_reserved``.
    """
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device: Any = None) -> int:
    """Return how many bytes of a device the allocator has held at most.

    Mirrors torch/cuda/memory.py, ``max_memory_reserved``.
    """
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return how many bytes of a device are free and how many there are, as CUDA says.

    Mirrors torch/cuda/memory.py, ``mem_get_info``.
    """
    return _C._cuda_memGetInfo(_device_index(device))
