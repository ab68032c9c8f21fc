"""The counters of pinned memory, and the programs that use a device.

Mirrors: torch/cuda/memory.py (host_memory_stats and its kin, list_gpu_processes)
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from reftorch import _C
from reftorch.cuda._device import _device_index, init, is_initialized

__all__ = [
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "list_gpu_processes",
    "reset_accumulated_host_memory_stats",
    "reset_peak_host_memory_stats",
]


def host_memory_stats_as_nested_dict() -> dict[str, Any]:
    """Return the counters of pinned memory as dicts in dicts, or an empty dict if CUDA has not been started.

    Mirrors torch/cuda/memory.py, ``host_memory_stats_as_nested_dict``.
    """
    return _C._cuda_hostMemoryStats() if is_initialized() else {}


def host_memory_stats() -> dict[str, Any]:
    """Return the counters of pinned memory, or an empty dict if CUDA has not been started.

    ``allocations`` counts the pieces of memory that came from CUDA, with those that are kept for later tensors;
    ``active_requests`` those that tensors or copies use now; ``allocated_bytes`` and ``active_bytes`` their bytes. The
    sizes are powers of two. Each has the values ``current``, ``peak``, ``allocated`` and ``freed``. ``num_host_alloc``
    and ``num_host_free`` count calls of CUDA, and ``host_alloc_time`` and ``host_free_time`` say how many microseconds
    they took: ``total``, ``max``, ``min``, ``count`` and ``avg``.

    Example:
        >>> if torch.cuda.is_available():
        ...     x = torch.ones(1000, pin_memory=True)  # 4,000 bytes become 4,096
        ...     assert torch.cuda.host_memory_stats()["active_bytes.current"] >= 4096

    Mirrors torch/cuda/memory.py, ``host_memory_stats``.
    """
    result: dict[str, Any] = {}
    for name, value in host_memory_stats_as_nested_dict().items():
        if isinstance(value, dict):
            result.update({f"{name}.{key}": inner for key, inner in value.items()})
        else:
            result[name] = value
    return OrderedDict(sorted(result.items()))


def reset_accumulated_host_memory_stats() -> None:
    """Set the sums of increases and decreases of the counters of pinned memory to 0, and the times and calls, too.

    Mirrors torch/cuda/memory.py, ``reset_accumulated_host_memory_stats``.
    """
    init()
    _C._cuda_resetAccumulatedHostMemoryStats()


def reset_peak_host_memory_stats() -> None:
    """Set the peaks of the counters of pinned memory to the current values.

    Mirrors torch/cuda/memory.py, ``reset_peak_host_memory_stats``.
    """
    init()
    _C._cuda_resetPeakHostMemoryStats()


def list_gpu_processes(device: Any = None) -> str:
    """Return a text that says why the programs on a device are not known: only NVIDIA's driver knows them.

    Without the package nvidia-ml-py, which asks the driver, PyTorch returns this text, too.

    Mirrors torch/cuda/memory.py, ``list_gpu_processes``.
    """
    _device_index(device)
    return "pynvml module not found, please install nvidia-ml-py"
