"""The memory that the caching allocator holds on each device.

Mirrors: torch/cuda/memory.py
Leaves out: processes of other programs, unified memory. The counters of pinned memory are in ``_host_memory.py``.
    The file is more than 500 lines long, because half of the lines are the words about one function each.
"""

from __future__ import annotations

import contextlib
import pickle
import sys
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, Literal

from reftorch import _C, _places
from reftorch._warnings import warn
from reftorch.cuda._device import _device_index, init, is_initialized
from reftorch.cuda._host_memory import (
    host_memory_stats,
    host_memory_stats_as_nested_dict,
    list_gpu_processes,
    reset_accumulated_host_memory_stats,
    reset_peak_host_memory_stats,
)
from reftorch.cuda._summary_table import summary_table
from reftorch.cuda.streams import Stream, current_stream, default_stream

__all__ = [
    "CUDAPluggableAllocator",
    "MemPool",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "caching_allocator_disabled",
    "caching_allocator_enable",
    "change_current_allocator",
    "empty_cache",
    "get_allocator_backend",
    "get_per_process_memory_fraction",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "list_gpu_processes",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_host_memory_stats",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_host_memory_stats",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
    "use_mem_pool",
]


def caching_allocator_alloc(size: int, device: Any = None, stream: Stream | int | None = None) -> int:
    """Allocate memory that does not belong to a tensor, and return its address.

    Args:
        size: bytes.
        device: the current device if None.
        stream: the stream whose work uses the memory; the current stream of the device if None. An int is the
            ``cuda_stream`` of the current or the default stream.

    Raises:
        TypeError: ``stream`` is neither a stream nor an int.
        ValueError: the int is of another stream.
        OutOfMemoryError: there is no memory left.

    Example:
        >>> if torch.cuda.is_available():
        ...     address = torch.cuda.caching_allocator_alloc(1000)
        ...     torch.cuda.caching_allocator_delete(address)

    Mirrors torch/cuda/memory.py, ``caching_allocator_alloc``.
    """
    index = _device_index(device)
    if stream is None:
        stream = current_stream(index)
    elif isinstance(stream, int):
        known = [current_stream(index), default_stream(index)]
        found = [each for each in known if each.cuda_stream == stream]
        if not found:
            raise ValueError(
                f"caching_allocator_alloc: {stream:#x} is neither the current nor the default stream of cuda:{index}; "
                "pass the torch.cuda.Stream itself"
            )
        stream = found[0]
    elif not isinstance(stream, Stream):
        raise TypeError(
            "Invalid type for stream argument, must be `torch.cuda.Stream` or `int` representing a pointer to a "
            "existing stream"
        )
    return _C._cuda_cudaCachingAllocator_raw_alloc(size, stream.stream_id, index)


def caching_allocator_delete(mem_ptr: int) -> None:
    """Give memory of :func:`caching_allocator_alloc` back.

    Raises:
        RuntimeError: the address is not of such memory.

    Mirrors torch/cuda/memory.py, ``caching_allocator_delete``.
    """
    _C._cuda_cudaCachingAllocator_raw_delete(mem_ptr)


def caching_allocator_enable(value: bool = True) -> None:
    """Choose whether freed memory is kept for later tensors. Without, each tensor calls cudaMalloc and cudaFree.

    Mirrors torch/cuda/memory.py, ``caching_allocator_enable``.
    """
    if is_initialized():
        _C._cuda_cudaCachingAllocator_enable(value)


@contextlib.contextmanager
def caching_allocator_disabled() -> Iterator[None]:
    """Return a context in which no freed memory is kept, so that tools that watch cudaMalloc see each tensor.

    Example:
        >>> if torch.cuda.is_available():
        ...     with torch.cuda.caching_allocator_disabled():
        ...         x = torch.ones(3, device="cuda")

    Mirrors torch/cuda/memory.py, ``caching_allocator_disabled``.
    """
    init()
    before = _C._cuda_cudaCachingAllocator_is_enabled()
    _C._cuda_cudaCachingAllocator_enable(False)
    try:
        yield
    finally:
        _C._cuda_cudaCachingAllocator_enable(before)


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Limit the memory that the allocator takes from a device.

    Args:
        fraction: the part of the device's memory, from 0 to 1.
        device: the current device if None.

    Raises:
        TypeError: ``fraction`` is not a float.
        ValueError: ``fraction`` is less than 0 or greater than 1.

    Mirrors torch/cuda/memory.py, ``set_per_process_memory_fraction``.
    """
    init()
    index = _device_index(device)
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if fraction < 0 or fraction > 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    _C._cuda_setMemoryFraction(fraction, index)


def get_per_process_memory_fraction(device: Any = None) -> float:
    """Return the part of a device's memory that the allocator may take; 1.0 if there is no limit.

    Mirrors torch/cuda/memory.py, ``get_per_process_memory_fraction``.
    """
    init()
    return _C._cuda_getMemoryFraction(_device_index(device))


def empty_cache() -> None:
    """Return the memory that no tensor uses to CUDA.

    Mirrors torch/cuda/memory.py, ``empty_cache``.
    """
    if is_initialized():
        _C._cuda_emptyCache()


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """Return the allocator's counters for a device as dicts in dicts, or an empty dict if CUDA has not been started.

    Mirrors torch/cuda/memory.py, ``memory_stats_as_nested_dict``.
    """
    return _C._cuda_memoryStats(_device_index(device)) if is_initialized() else {}


def memory_stats(device: Any = None) -> dict[str, Any]:
    """Return the allocator's counters for a device, or an empty dict if CUDA has not been started.

    A key is ``counter.pool.value``. Counters: ``allocation`` (blocks that tensors own), ``segment`` (pieces of memory
    that came from cudaMalloc), ``active`` (blocks in use by a tensor or a stream), ``inactive_split`` (unused parts of
    segments of which another part is in use), the sums of their bytes (``allocated_bytes``, ``reserved_bytes`` for
    segments, ``active_bytes``, ``inactive_split_bytes``) and ``requested_bytes`` (before rounding). Pools: ``all``,
    ``small_pool``, ``large_pool``. Values: ``current``, ``peak``, ``allocated`` (all increases), ``freed`` (all
    decreases). Simple counters, such as ``num_alloc_retries`` and ``num_ooms``, have no dots.

    Args:
        device: the current device if None.

    Example:
        >>> if torch.cuda.is_available():
        ...     x = torch.ones(3, device="cuda")
        ...     assert torch.cuda.memory_stats()["allocation.all.current"] >= 1

    Mirrors torch/cuda/memory.py, ``memory_stats``.
    """
    result: dict[str, Any] = {}

    def flatten(prefix: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                flatten(f"{prefix}.{key}" if prefix else key, inner)
        else:
            result[prefix] = value

    flatten("", memory_stats_as_nested_dict(device))
    return OrderedDict(sorted(result.items()))


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Set the sums of increases and decreases of a device's counters to 0, and the simple counters, too.

    Mirrors torch/cuda/memory.py, ``reset_accumulated_memory_stats``.
    """
    _C._cuda_resetAccumulatedMemoryStats(_device_index(device))


def reset_peak_memory_stats(device: Any = None) -> None:
    """Set the peak counters of a device to the current values.

    Mirrors torch/cuda/memory.py, ``reset_peak_memory_stats``.
    """
    _C._cuda_resetPeakMemoryStats(_device_index(device))


def _warn_of_all_peaks(name: str) -> None:
    warn(
        f"torch.cuda.{name} now calls torch.cuda.reset_peak_memory_stats, which resets /all/ peak memory stats.",
        FutureWarning,
    )


def reset_max_memory_allocated(device: Any = None) -> None:
    """Call :func:`reset_peak_memory_stats`, with a warning: the name is old.

    Mirrors torch/cuda/memory.py, ``reset_max_memory_allocated``.
    """
    _warn_of_all_peaks("reset_max_memory_allocated")
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device: Any = None) -> None:
    """Call :func:`reset_peak_memory_stats`, with a warning: the name is old.

    Mirrors torch/cuda/memory.py, ``reset_max_memory_cached``.
    """
    _warn_of_all_peaks("reset_max_memory_cached")
    reset_peak_memory_stats(device)


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


def memory_cached(device: Any = None) -> int:
    """Return what :func:`memory_reserved` returns, with a warning: the name is old.

    Mirrors torch/cuda/memory.py, ``memory_cached``.
    """
    warn("`torch.cuda.memory_cached` has been renamed to `torch.cuda.memory_reserved`", FutureWarning)
    return memory_reserved(device)


def max_memory_cached(device: Any = None) -> int:
    """Return what :func:`max_memory_reserved` returns, with a warning: the name is old.

    Mirrors torch/cuda/memory.py, ``max_memory_cached``.
    """
    warn(
        "`torch.cuda.max_memory_cached` has been renamed to `torch.cuda.max_memory_reserved`",
        FutureWarning,
    )
    return max_memory_reserved(device)


def memory_snapshot(mempool_id: Any = None, include_traces: bool = True) -> list[dict[str, Any]]:
    """Return the segments of all devices, each with its blocks in the order of their addresses.

    Args:
        mempool_id: the id of a :class:`MemPool` or of a graph's pool, whose segments alone are returned; None means
            all segments.
        include_traces: accepted for PyTorch's sake; the segments contain no history.

    Example:
        >>> if torch.cuda.is_available():
        ...     x = torch.ones(3, device="cuda")
        ...     blocks = torch.cuda.memory_snapshot()[0]["blocks"]
        ...     assert {"address", "size", "requested_size", "state", "frames"} == set(blocks[0])

    Mirrors torch/cuda/memory.py, ``memory_snapshot``.
    """
    return _C._cuda_memorySnapshot(mempool_id)["segments"]


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """Return a table of the allocator's counters for a device.

    Args:
        device: the current device if None.
        abbreviated: whether to leave out the rows of the two pools.

    Example:
        >>> if torch.cuda.is_available():
        ...     x = torch.ones(3, device="cuda")
        ...     assert "Allocated memory" in torch.cuda.memory_summary()

    Mirrors torch/cuda/memory.py, ``memory_summary``.
    """
    index = _device_index(device)
    return summary_table(index, memory_stats(index), abbreviated)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return the number of free bytes and of all bytes of a device, as CUDA reports them.

    Mirrors torch/cuda/memory.py, ``mem_get_info``.
    """
    index = _device_index(device)
    return _C._cuda_memGetInfo(index)


def _record_memory_history(
    enabled: Literal["state", "all"] | None = "all",
    context: Literal["state", "alloc", "all"] | None = "all",
    stacks: Literal["python", "all"] = "all",
    max_entries: int = sys.maxsize,
    device: Any = None,
    clear_history: bool = False,
    compile_context: bool = False,
    global_record_annotations: bool = False,
    skip_actions: list[str] | None = None,
) -> None:
    """Record what the allocator does from now on, for :func:`_snapshot`.

    Args:
        enabled: ``"state"`` or ``"all"``, which mean the same, as in PyTorch. None ends the recording and forgets the
            history.
        context: for what the stack of Python is recorded: ``"state"`` for blocks in use, ``"alloc"`` for allocations in
            the history, ``"all"`` for frees as well; None for nothing.
        stacks: ``"python"`` or ``"all"``; both record frames of Python only.
        max_entries: how many events of a device are kept; a new event replaces the oldest one.
        device: has no effect, as in PyTorch: all devices are recorded.
        clear_history: whether to forget what was recorded before.
        compile_context: has no effect, because there is no compiler.
        global_record_annotations: has no effect.
        skip_actions: names of events that are not recorded, such as ``"free_requested"``.

    Raises:
        RuntimeError: one of the words is not known.

    Mirrors torch/cuda/memory.py, ``_record_memory_history``.
    """
    init()
    _C._cuda_record_memory_history(enabled, context, stacks, max_entries, clear_history, skip_actions or [])


def _snapshot(device: Any = None, augment_with_fx_traces: bool = False) -> dict[str, Any]:
    """Return the segments of all devices, their history since :func:`_record_memory_history`, and the settings.

    The keys are PyTorch's, so that PyTorch's viewer of memory snapshots reads the file of :func:`_dump_snapshot`.

    Both arguments have no effect.

    Mirrors torch/cuda/memory.py, ``_snapshot``.
    """
    return _C._cuda_memorySnapshot(None)


def _dump_snapshot(filename: str = "dump_snapshot.pickle", augment_with_fx_traces: bool = False) -> None:
    """Write :func:`_snapshot` to a file.

    Mirrors torch/cuda/memory.py, ``_dump_snapshot``.
    """
    with open(filename, "wb") as file:
        pickle.dump(_snapshot(augment_with_fx_traces=augment_with_fx_traces), file)


def _set_allocator_settings(env: str) -> None:
    """Change the settings of the allocator. The text is one for ``PYTORCH_CUDA_ALLOC_CONF``.

    Raises:
        ValueError: the text is not a list of settings.

    Example:
        >>> torch.cuda.memory._set_allocator_settings("max_split_size_mb:5")
        Traceback (most recent call last):
            ...
        ValueError: CachingAllocator option max_split_size_mb too small, must be >= 20

    Mirrors torch/cuda/memory.py, ``_set_allocator_settings``.
    """
    _C._accelerator_setAllocatorSettings(env)


def _set_memory_metadata(metadata: str) -> None:
    """Set a text that each later event of the history has as ``user_metadata``. Empty means no text.

    Example:
        >>> if torch.cuda.is_available():
        ...     torch.cuda.memory._set_memory_metadata("epoch 1")
        ...     assert torch.cuda.memory._get_memory_metadata() == "epoch 1"
        ...     torch.cuda.memory._set_memory_metadata("")

    Mirrors torch/cuda/memory.py, ``_set_memory_metadata``.
    """
    init()
    _C._cuda_setMemoryMetadata(metadata)


def _get_memory_metadata() -> str:
    """Return the text that :func:`_set_memory_metadata` has set.

    Mirrors torch/cuda/memory.py, ``_get_memory_metadata``.
    """
    init()
    return _C._cuda_getMemoryMetadata()


def _save_segment_usage(filename: str = "output.svg", snapshot: dict[str, Any] | None = None) -> None:
    """Write a picture of the segments and their blocks, an SVG with the places in the program as titles.

    Mirrors torch/cuda/memory.py, ``_save_segment_usage``.
    """
    from reftorch.cuda._memory_viz import segments

    with open(filename, "w") as file:
        file.write(segments(_snapshot() if snapshot is None else snapshot))


def _save_memory_usage(filename: str = "output.svg", snapshot: dict[str, Any] | None = None) -> None:
    """Write a picture of the memory that is in use, by the places in the program that asked for it: an SVG.

    Mirrors torch/cuda/memory.py, ``_save_memory_usage``.
    """
    from reftorch.cuda._memory_viz import memory

    with open(filename, "w") as file:
        file.write(memory(_snapshot() if snapshot is None else snapshot))


def get_allocator_backend() -> str:
    """Return ``"native"``, or ``"pluggable"`` after :func:`change_current_allocator`.

    Mirrors torch/cuda/memory.py, ``get_allocator_backend``.
    """
    return _C._cuda_getAllocatorBackend()


class _CUDAAllocator:
    """An allocator of CUDA memory."""

    def __init__(self, allocator: Any) -> None:
        self._allocator = allocator

    def allocator(self) -> Any:
        """Return the allocator of the C++ library."""
        return self._allocator


class CUDAPluggableAllocator(_CUDAAllocator):
    """An allocator that consists of two functions of a shared library.

    The functions are ``void* alloc(ssize_t size, int device, cudaStream_t stream)`` and
    ``void free(void* ptr, ssize_t size, int device, cudaStream_t stream)``, declared as ``extern "C"``. Counters,
    limits and snapshots raise RuntimeError while such an allocator is in use.

    Args:
        path_to_so_file: the library.
        alloc_fn_name: the name of the function that allocates.
        free_fn_name: the name of the function that frees.

    Raises:
        OSError: there is no such library.
        AttributeError: the library has no such function.

    Mirrors torch/cuda/memory.py, ``CUDAPluggableAllocator``.
    """

    def __init__(self, path_to_so_file: str, alloc_fn_name: str, free_fn_name: str) -> None:
        import ctypes  # not at the top: few programs need it

        self._library = ctypes.CDLL(path_to_so_file)
        alloc_fn, free_fn = (
            ctypes.cast(getattr(self._library, name), ctypes.c_void_p).value for name in (alloc_fn_name, free_fn_name)
        )
        super().__init__(_C._cuda_customAllocator(alloc_fn, free_fn))


def change_current_allocator(allocator: _CUDAAllocator) -> None:
    """Let an allocator of the program serve all tensors of all devices.

    Args:
        allocator: the allocator, a :class:`CUDAPluggableAllocator`.

    Raises:
        RuntimeError: memory was allocated before.

    Mirrors torch/cuda/memory.py, ``change_current_allocator``.
    """
    _C._cuda_changeCurrentAllocator(allocator.allocator())


def _get_current_allocator() -> _CUDAAllocator:
    """Return the allocator that serves tensors now.

    Mirrors torch/cuda/memory.py, ``_get_current_allocator``.
    """
    return _CUDAAllocator(_C._cuda_getAllocator())


class MemPool:
    """A pool of memory of the current device for tensors that :func:`use_mem_pool` directs to it.

    Memory of the pool is reused inside of the pool only. It goes back to the device after the pool and the last tensor
    in it have gone.

    Args:
        allocator: what ``allocator()`` of a :class:`CUDAPluggableAllocator` returns, for the segments of the pool; None
            means the device.
        use_on_oom: whether unused memory of the pool serves other requests when the device is full.
        no_split: whether each request gets a segment of its own.

    Raises:
        AssertionError: there is no CUDA device.
        TypeError: ``allocator`` is something else.

    Example:
        >>> if torch.cuda.is_available():
        ...     pool = torch.cuda.MemPool()
        ...     with torch.cuda.use_mem_pool(pool):
        ...         x = torch.ones(3, device="cuda")
        ...     assert [segment["segment_pool_id"] for segment in pool.snapshot()] == [pool.id]

    Mirrors torch/cuda/memory.py, ``MemPool``.
    """

    def __init__(self, allocator: Any = None, use_on_oom: bool = False, no_split: bool = False) -> None:
        init()
        self._allocator = allocator
        self._pool = _C._MemPool(allocator, use_on_oom=use_on_oom, no_split=no_split)

    @property
    def id(self) -> tuple[int, int]:
        """The number by which :func:`memory_snapshot` and graphs know the pool."""
        return self._pool.id

    @property
    def device(self) -> int:
        """The number of the pool's device."""
        return self._pool.device

    @property
    def allocator(self) -> Any:
        """The allocator of the pool's segments; None means the device."""
        return self._allocator

    def use_count(self) -> int:
        """Return how many owners the pool has: this object, graphs, and contexts of :func:`use_mem_pool`."""
        return self._pool.use_count()

    def snapshot(self, include_traces: bool = True) -> list[dict[str, Any]]:
        """Return the segments of the pool, as :func:`memory_snapshot` does."""
        return memory_snapshot(self.id, include_traces)


@contextlib.contextmanager
def use_mem_pool(pool: MemPool, device: Any = None) -> Iterator[None]:
    """Return a context in which tensors that this thread makes get memory of a pool.

    Args:
        pool: the pool.
        device: the current device if None.

    Raises:
        RuntimeError: tensors get memory of this pool already.

    Example:
        >>> if torch.cuda.is_available():
        ...     with torch.cuda.use_mem_pool(torch.cuda.MemPool()):
        ...         x = torch.ones(3, device="cuda")

    Mirrors torch/cuda/memory.py, ``use_mem_pool``.
    """
    index = _device_index(device)
    _C._cuda_beginAllocateCurrentThreadToPool(index, pool.id)
    try:
        yield
    finally:
        _C._cuda_endAllocateToPool(index, pool.id)
        _C._cuda_releasePool(index, pool.id)


_places.adopt(
    __name__,
    (
        "host_memory_stats",
        "host_memory_stats_as_nested_dict",
        "list_gpu_processes",
        "reset_accumulated_host_memory_stats",
        "reset_peak_host_memory_stats",
    ),
    globals(),
)
