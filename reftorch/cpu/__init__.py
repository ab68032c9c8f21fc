"""The questions and contexts of a device module, for the CPU, so that programs for any device run on it too.

Mirrors: torch/cpu/__init__.py
Leaves out: ``get_capabilities``, which lists the instruction sets of the processor.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from reftorch.cpu import amp

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "amp",
    "current_device",
    "current_stream",
    "device_count",
    "is_available",
    "is_initialized",
    "set_device",
    "stream",
    "synchronize",
]


def is_available() -> bool:
    """Return True: there is always a CPU.

    Mirrors torch/cpu/__init__.py, ``is_available``.
    """
    return True


def is_initialized() -> bool:
    """Return True.

    Mirrors torch/cpu/__init__.py, ``is_initialized``.
    """
    return True


def device_count() -> int:
    """Return 1.

    Mirrors torch/cpu/__init__.py, ``device_count``.
    """
    return 1


def current_device() -> str:
    """Return ``"cpu"``.

    Mirrors torch/cpu/__init__.py, ``current_device``.
    """
    return "cpu"


def set_device(device: Any) -> None:
    """Do nothing: there is one device.

    Mirrors torch/cpu/__init__.py, ``set_device``.
    """


def synchronize(device: Any = None) -> None:
    """Do nothing: an op on the CPU has finished when it returns.

    Mirrors torch/cpu/__init__.py, ``synchronize``.
    """


class Stream:
    """A stream of the CPU, which has no queue: each op runs when it is called.

    Mirrors torch/cpu/__init__.py, ``Stream``.
    """

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        """Do nothing."""

    def record_event(self) -> None:
        """Do nothing."""

    def wait_event(self, event: Any) -> None:
        """Do nothing."""


class Event:
    """A point of time in a stream of the CPU; it is always in the past.

    Mirrors torch/cpu/__init__.py, ``Event``.
    """

    def query(self) -> bool:
        """Return True."""
        return True

    def record(self, stream: Any = None) -> None:
        """Do nothing."""

    def synchronize(self) -> None:
        """Do nothing."""

    def wait(self, stream: Any = None) -> None:
        """Do nothing."""


_default_cpu_stream = Stream()
_current_stream = _default_cpu_stream


def current_stream(device: Any = None) -> Stream:
    """Return the stream that the innermost :func:`stream` has set.

    Mirrors torch/cpu/__init__.py, ``current_stream``.
    """
    return _current_stream


class StreamContext(AbstractContextManager[None]):
    """Makes a stream the current one inside the block; None changes nothing.

    Mirrors torch/cpu/__init__.py, ``StreamContext``.
    """

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self.prev_stream = _default_cpu_stream

    def __enter__(self) -> None:
        global _current_stream
        if self.stream is not None:
            self.prev_stream, _current_stream = _current_stream, self.stream

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        global _current_stream
        if self.stream is not None:
            _current_stream = self.prev_stream


def stream(stream: Stream | None) -> AbstractContextManager[None]:
    """Return a context in which a stream is the current one.

    Example:
        >>> s = torch.cpu.Stream()
        >>> with torch.cpu.stream(s):
        ...     torch.cpu.current_stream() is s
        True

    Mirrors torch/cpu/__init__.py, ``stream``.
    """
    return StreamContext(stream)
