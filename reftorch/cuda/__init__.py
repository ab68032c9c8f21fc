"""CUDA devices, the current device, streams, events, memory and random numbers.

The devices are GPUs, in a build with ``-DUSE_CUDA=on``, or those of a simulator that the Debug build contains. The
simulator has no devices unless the environment variable ``REFTORCH_CUDA_SIM`` is set when Python starts;
``REFTORCH_CUDA_SIM=2`` gives two devices.
``reftorch/debug/README.md`` says how to step into its kernels. Without a device, programs that check
``torch.cuda.is_available()`` run unchanged, and functions that need a device raise the error of a torch without CUDA.

Mirrors: torch/cuda/__init__.py
Leaves out: graphs, NVTX, jiterator, NCCL, sparse tensors, tunable ops, devices in other processes.
"""

from __future__ import annotations

from reftorch._C import OutOfMemoryError
from reftorch.cuda import amp
from reftorch.cuda._device import (
    can_device_access_peer,
    current_device,
    device,
    device_count,
    device_of,
    get_arch_list,
    get_device_capability,
    get_device_name,
    get_device_properties,
    init,
    is_available,
    is_bf16_supported,
    is_initialized,
    set_device,
    synchronize,
)
from reftorch.cuda.memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_peak_memory_stats,
)
from reftorch.cuda.random import initial_seed, manual_seed, manual_seed_all
from reftorch.cuda.streams import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)

__all__ = [
    "Event",
    "OutOfMemoryError",
    "Stream",
    "StreamContext",
    "amp",
    "can_device_access_peer",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "set_device",
    "set_stream",
    "stream",
    "synchronize",
]
