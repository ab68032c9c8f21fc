"""Streams, on which work runs in order, and events, for which streams and the program can wait.

Mirrors: torch/cuda/streams.py
Leaves out: external streams, events between processes, priorities.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch.cuda._device import _device_index, init

__all__ = ["Event", "Stream", "StreamContext", "current_stream", "default_stream", "set_stream", "stream"]


class Stream(_C.Stream):
    """A queue of work on one device. Work on one stream runs in order; work on two streams may run at the same time.

    A ``with`` block makes the stream and its device current.

    Args:
        device: the device of the stream; None means the current device.
        priority: accepted for compatibility with PyTorch; has no effect.

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

    @property
    def cuda_stream(self) -> int:
        """CUDA's handle of the stream; 0 for the default stream."""
        return _C._cuda_getStreamHandle(self.stream_id, self.device_index)

    def record_event(self, event: Any = None) -> Any:
        """Record an event on the stream, by default a new one, and return the event."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class Event(_C.Event):
    """A marked place in a stream, for which other streams and the program can wait.

    Args:
        enable_timing: store the time at which the place is reached, for ``elapsed_time``.
        blocking: accepted for compatibility with PyTorch; has no effect.
        interprocess: not supported.

    Raises:
        RuntimeError: `interprocess` is True.

    Mirrors torch/cuda/streams.py, ``Event``.
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        if interprocess:
            raise RuntimeError("Event: interprocess=True is not supported")
        init()
        super().__init__("cuda", enable_timing=enable_timing)

    @property
    def cuda_event(self) -> int:
        """CUDA's handle of the event; 0 before the first record."""
        return self.event_id

    def __repr__(self) -> str:
        return f"<torch.cuda.Event {self.cuda_event:#x}>" if self.cuda_event else "<torch.cuda.Event uninitialized>"


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
