"""Streams, on which work runs in order, and events, for which streams and the program can wait.

Mirrors: torch/cuda/streams.py
Leaves out: an effect of priorities.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch.cuda._device import _device_index, init
from reftorch.cuda._device import device as device_context

__all__ = [
    "Event",
    "ExternalStream",
    "Stream",
    "StreamContext",
    "current_stream",
    "default_stream",
    "get_stream_from_external",
    "set_stream",
    "stream",
]


class Stream(_C.Stream):
    """A queue of work on one device. Work on one stream runs in order; work on two streams may run at the same time.

    A ``with`` block makes the stream and its device current.

    Args:
        device: the device of the stream; None means the current device.
        priority: 0, or -1 for a high priority, which has no effect on the order of the work here.

    Example::

        s = torch.cuda.Stream()
        s.wait_stream(torch.cuda.current_stream())    # s starts after the work that makes x
        with torch.cuda.stream(s):
            y = x * 2                                 # enqueued on s
        torch.cuda.current_stream().wait_stream(s)    # later work of the current stream comes after y

    Mirrors torch/cuda/streams.py, ``Stream``.
    """

    def __init__(self, device: Any = None, priority: int = 0, **name: int) -> None:
        init()
        if name:
            super().__init__(**name)
        else:
            super().__init__(f"cuda:{_device_index(device)}", priority=priority)
            self._priority = max(-1, min(priority, 0))

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """Return the numbers of the lowest and of the highest priority."""
        return 0, -1

    @property
    def priority(self) -> int:
        """The priority with which the stream was made, and 0 for a stream that exists already."""
        return getattr(self, "_priority", 0)

    @property
    def cuda_stream(self) -> int:
        """CUDA's handle of the stream; 0 for the default stream."""
        return _C._cuda_getStreamHandle(self.stream_id, self.device_index)

    @property
    def _as_parameter_(self) -> Any:
        """The handle as an argument of a C function that ctypes calls."""
        return _pointer(self.cuda_stream)

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return the version 0 of this protocol and CUDA's handle: other libraries ask for a stream in this way."""
        return 0, self.cuda_stream

    def record_event(self, event: Any = None) -> Any:
        """Record an event on the stream, by default a new one, and return the event."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class ExternalStream(Stream):
    """A stream that another library has made, by CUDA's handle. Its maker destroys it, after the last use here.

    Args:
        stream_ptr: the handle, an integer.
        device: the device of the stream; the current device if None.

    Raises:
        ValueError: the handle is not an address.

    Example:
        >>> if torch.cuda.is_available():
        ...     mine = torch.cuda.Stream()
        ...     assert torch.cuda.ExternalStream(mine.cuda_stream).cuda_stream == mine.cuda_stream

    Mirrors torch/cuda/streams.py, ``ExternalStream``.
    """

    def __init__(self, stream_ptr: int, device: Any = None, **kwargs: Any) -> None:
        index = device.idx if isinstance(device, device_context) else _device_index(device)
        if stream_ptr < 0 or stream_ptr % 2:
            raise ValueError(f"ExternalStream: expected the handle of a stream, which is an address, got {stream_ptr}")
        stream_id, index, kind = _C._cuda_getStreamFromExternal(stream_ptr, index)
        super().__init__(stream_id=stream_id, device_index=index, device_type=kind, **kwargs)


def get_stream_from_external(data_ptr: int, device: Any = None) -> Stream:
    """Return a stream that another library has made, by CUDA's handle; see :class:`ExternalStream`.

    Mirrors torch/cuda/__init__.py, ``get_stream_from_external``.
    """
    return ExternalStream(data_ptr, device)


class Event(_C.Event):
    """A marked place in a stream, for which other streams and the program can wait.

    Args:
        enable_timing: store the time at which the place is reached, for ``elapsed_time``.
        blocking: accepted for compatibility with PyTorch; has no effect.
        interprocess: let other processes open the event by its :meth:`ipc_handle`. Such an event stores no time.
        external: if a stream that captures a graph records the event, let each replay of the graph record it for the
            program; if such a stream waits for the event, let each replay wait. Otherwise an event of a capture only
            orders the work of the graph.

    Raises:
        AssertionError: there is no CUDA device.
        RuntimeError: (at the first :meth:`record`) both `interprocess` and `enable_timing` are True.

    Mirrors torch/cuda/streams.py, ``Event``.
    """

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
    ) -> None:
        init()
        super().__init__("cuda", enable_timing=enable_timing, interprocess=interprocess, external=external)

    @classmethod
    def from_ipc_handle(cls, device: Any, handle: bytes) -> Event:
        """Return an event that another process has made: each of the two sees what the other one records.

        Args:
            device: the device of the event.
            handle: what :meth:`ipc_handle` has returned in the other process, which still has the event.

        Raises:
            RuntimeError: `handle` is not such a handle, or its process has ended.

        Mirrors torch/cuda/streams.py, ``Event.from_ipc_handle``.
        """
        event = cls(interprocess=True)
        _C._cuda_openIpcEventHandle(event, _device_index(device), handle)
        return event

    def ipc_handle(self) -> bytes:
        """Return the bytes by which another process opens the event: see :meth:`from_ipc_handle`.

        Queues of ``torch.multiprocessing`` send events in this way. If the event was never recorded, it is made on the
        current device.

        Raises:
            RuntimeError: the event was made without ``interprocess=True``.

        Example:
            >>> if torch.cuda.is_available():
            ...     event = torch.cuda.Event(interprocess=True)
            ...     assert len(event.ipc_handle()) == 64

        Mirrors torch/cuda/streams.py, ``Event.ipc_handle``.
        """
        return _C._cuda_getIpcEventHandle(self)

    @property
    def device(self) -> Any:  # type: ignore[override]
        """The device of the event; None before the first record."""
        return super().device if self.cuda_event else None

    @property
    def cuda_event(self) -> int:
        """CUDA's handle of the event; 0 before the first record."""
        return self.event_id

    @property
    def _as_parameter_(self) -> Any:
        """The handle as an argument of a C function that ctypes calls."""
        return _pointer(self.cuda_event)

    def __repr__(self) -> str:
        return f"<torch.cuda.Event {self.cuda_event:#x}>" if self.cuda_event else "<torch.cuda.Event uninitialized>"


def _pointer(handle: int) -> Any:
    import ctypes  # whoever asks for such an argument has imported it

    return ctypes.c_void_p(handle)


def current_stream(device: Any = None) -> Stream:
    """Return the stream on which this thread's ops on a device run.

    Mirrors torch/cuda/__init__.py, ``current_stream``.
    """
    index = _device_index(device)
    stream_id, index, kind = _C._cuda_getCurrentStream(index)
    return Stream(stream_id=stream_id, device_index=index, device_type=kind)


def default_stream(device: Any = None) -> Stream:
    """Return the default stream of a device, on which ops run unless another stream is current.

    Mirrors torch/cuda/__init__.py, ``default_stream``.
    """
    index = _device_index(device)
    stream_id, index, kind = _C._cuda_getDefaultStream(index)
    return Stream(stream_id=stream_id, device_index=index, device_type=kind)


def set_stream(stream: Stream | None) -> None:
    """Make a stream the current stream of its device, and make that device current. None changes nothing.

    Mirrors torch/cuda/__init__.py, ``set_stream``.
    """
    if stream is not None:
        _C._cuda_setStream(stream.stream_id, stream.device_index)


class StreamContext:
    """A context that makes a stream and its device current. None changes nothing.

    Mirrors torch/cuda/__init__.py, ``StreamContext``.
    """

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is None:
            return
        self.src_prev_stream = current_stream(None)
        self.dst_prev_stream = current_stream(self.stream.device_index)
        set_stream(self.stream)

    def __exit__(self, *exception: Any) -> None:
        if self.stream is None:
            return
        set_stream(self.dst_prev_stream)
        set_stream(self.src_prev_stream)


def stream(stream: Stream | None) -> StreamContext:
    """Return a context in which ops run on a stream. None changes nothing.

    Mirrors torch/cuda/__init__.py, ``stream``.
    """
    return StreamContext(stream)
