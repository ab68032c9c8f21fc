"""The accelerator, of whatever kind: its devices and their streams.

Mirrors: torch/accelerator/__init__.py
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._warnings import warn
from reftorch.accelerator._utils import _index_of
from reftorch.accelerator.graphs import Graph
from reftorch.accelerator.memory import (
    empty_cache,
    empty_host_cache,
    get_memory_info,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
)

__all__ = [
    "Graph",
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "empty_host_cache",
    "get_device_capability",
    "get_memory_info",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]


def is_available() -> bool:
    """Return whether there is an accelerator.

    Example:
        >>> torch.accelerator.is_available() == (torch.accelerator.device_count() > 0)
        True

    Mirrors torch/accelerator/__init__.py, ``is_available``.
    """
    return device_count() > 0


def device_count() -> int:
    """Return the number of devices of the accelerator, or 0 if there is none.

    Mirrors torch/accelerator/__init__.py, ``device_count``.
    """
    return int(_C._accelerator_deviceCount())


def current_accelerator(check_available: bool = False) -> _C.device | None:
    """Return a device, without an index, of the accelerator's kind, or None if there is no accelerator.

    Args:
        check_available: has no effect, because an accelerator without devices is not reported here.

    Mirrors torch/accelerator/__init__.py, ``current_accelerator``.
    """
    device: _C.device | None = _C._accelerator_getAccelerator()
    return device


def get_device_capability(device: Any = None, /) -> dict[str, Any]:
    """Return what a device can do: under ``"supported_dtypes"``, the set of dtypes of which it can hold tensors.

    Args:
        device: an index, or a device; the current one if None.

    Raises:
        RuntimeError: there is no accelerator, or no such device.

    Example:
        >>> if torch.accelerator.is_available():
        ...     assert torch.float16 in torch.accelerator.get_device_capability()["supported_dtypes"]

    Mirrors torch/accelerator/__init__.py, ``get_device_capability``.
    """
    index = _index_of(device, optional=True)
    if index >= device_count():
        raise RuntimeError(f"get_device_capability: there is no device {index}: there are {device_count()} devices")
    _C._accelerator_getDeviceIndex()  # raises if there is no accelerator
    names = ("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")
    return {"supported_dtypes": {getattr(_C, name) for name in names}}


def generate_graph_pool_handle() -> tuple[int, int]:
    """Return the id of a pool of memory that several graphs can share, see ``torch.cuda.graph_pool_handle``.

    Raises:
        AssertionError: there is no CUDA device.

    Mirrors torch/accelerator/graphs.py, ``generate_graph_pool_handle``, which PyTorch 2.13 does not have yet.
    """
    from reftorch.cuda.graphs import graph_pool_handle

    return graph_pool_handle()


def current_device_index() -> int:
    """Return the index of the current device.

    Raises:
        RuntimeError: there is no accelerator.

    Mirrors torch/accelerator/__init__.py, ``current_device_index``.
    """
    return int(_C._accelerator_getDeviceIndex())


def set_device_index(device: Any, /) -> None:
    """Make a device of the accelerator current; a negative index changes nothing.

    Args:
        device: an index, or a device with one.

    Raises:
        RuntimeError: there is no accelerator, or no such device.
        ValueError: ``device`` has no index, or is of another kind than the accelerator.

    Mirrors torch/accelerator/__init__.py, ``set_device_index``.
    """
    _C._accelerator_setDeviceIndex(_index_of(device))


def current_device_idx() -> int:
    """Return what :func:`current_device_index` returns, with a warning: the name is old.

    Mirrors torch/accelerator/__init__.py, ``current_device_idx``.
    """
    warn("Use `current_device_index` instead.", FutureWarning)
    return current_device_index()


def set_device_idx(device: Any, /) -> None:
    """Call :func:`set_device_index`, with a warning: the name is old.

    Mirrors torch/accelerator/__init__.py, ``set_device_idx``.
    """
    warn("Use `set_device_index` instead.", FutureWarning)
    set_device_index(device)


def current_stream(device: Any = None, /) -> _C.Stream:
    """Return the current stream of a device, by default that of the current device.

    Raises:
        RuntimeError: there is no accelerator.

    Mirrors torch/accelerator/__init__.py, ``current_stream``.
    """
    stream: _C.Stream = _C._accelerator_getStream(_index_of(device, optional=True))
    return stream


def set_stream(stream: _C.Stream) -> None:
    """Make ``stream`` and its device current.

    Raises:
        RuntimeError: there is no accelerator, or the stream belongs to a device of another kind.

    Mirrors torch/accelerator/__init__.py, ``set_stream``.
    """
    _C._accelerator_setStream(stream)


def synchronize(device: Any = None, /) -> None:
    """Wait until a device, by default the current one, has finished all its work.

    Raises:
        RuntimeError: there is no accelerator.

    Mirrors torch/accelerator/__init__.py, ``synchronize``.
    """
    _C._accelerator_synchronizeDevice(_index_of(device, optional=True))


class device_index:
    """A context in which a device of the accelerator is the current one; None changes nothing.

    Mirrors torch/accelerator/__init__.py, ``device_index``.
    """

    def __init__(self, device: int | None, /) -> None:
        self.idx = device
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx is not None:
            self.prev_idx = current_device_index()
            set_device_index(self.idx)

    def __exit__(self, *exc_info: object) -> None:
        if self.idx is not None:
            set_device_index(self.prev_idx)
