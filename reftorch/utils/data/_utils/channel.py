"""The line between a loader and one of its workers: whole messages, which carry the memory of tensors along.

A message is one object, pickled. The shared memory of its tensors goes beside the pickle, as file descriptors, so that
a batch costs a few hundred bytes of message whatever its size.

PyTorch sends batches through one queue that all workers share, and descriptors by a further connection that the
receiver opens to the sender. Here each worker has a socket of its own, for three reasons. If a worker is killed in the
middle of a message, the stream ends, where a reader of a shared queue would wait for the rest for ever. The kernel
keeps the descriptors of a message, so that a batch outlives the worker that made it. And neither side needs a thread.

Mirrors: nothing in PyTorch; it takes the place of multiprocessing.Queue in torch/utils/data/dataloader.py
Leaves out: messages between machines.
"""

from __future__ import annotations

import errno
import io
import os
import pickle
import socket
import struct
import time
from collections import deque
from multiprocessing.reduction import ForkingPickler
from typing import Any

from reftorch.multiprocessing.reductions import _message

__all__: list[str] = []

_HEADER = struct.Struct("=QI")  # the bytes of the pickle, and the number of descriptors
_MOST = 250  # descriptors in one call: the kernel's limit is 253
_TOO_MANY_FILES = (
    "Too many open files. Communication with the workers is no longer possible. Please increase the limit using "
    "`ulimit -n` in the shell or change the sharing strategy by calling "
    "`torch.multiprocessing.set_sharing_strategy('file_system')` at the beginning of your code"
)


def _pieces(message: Any) -> tuple[list[tuple[memoryview, list[int]]], Any]:
    """Return a message as bytes, each piece with its descriptors, and the objects that must live until then.

    Memory that has a name lives without the message, because the message counts as a user of the memory.
    """
    descriptors: list[int] = []
    _message.descriptors = descriptors
    try:
        buffer = io.BytesIO()
        ForkingPickler(buffer, pickle.HIGHEST_PROTOCOL).dump(message)
    finally:
        _message.descriptors = None
    data = buffer.getbuffer()
    header = _HEADER.pack(len(data), len(descriptors))
    pieces = [(memoryview(header), descriptors[:_MOST])]
    for first in range(_MOST, len(descriptors), _MOST):
        pieces.append((memoryview(b"+"), descriptors[first : first + _MOST]))
    return [*pieces, (data, [])], message if descriptors else None


class Channel:
    """One end of a line. Closing it ends the stream for the other end.

    Args:
        connection: an end of ``multiprocessing.Pipe()``, which is closed; the channel has its own descriptor.
    """

    def __init__(self, connection: Any) -> None:
        self._socket = socket.socket(fileno=os.dup(connection.fileno()))
        connection.close()
        self._socket.setblocking(True)
        self._unsent: deque[tuple[deque[tuple[memoryview, list[int]]], Any]] = deque()

    def fileno(self) -> int:
        """The descriptor, for ``select``."""
        return self._socket.fileno()

    def close(self) -> None:
        """End the stream. What was not sent is dropped."""
        self._unsent.clear()
        self._socket.close()

    # ---- sending

    def put(self, message: Any) -> None:
        """Send as much as there is room for now; :meth:`flush` sends the rest. It never waits.

        A loader that waited here for a worker, which waits for the loader to take a batch, would wait for ever.
        """
        pieces, alive = _pieces(message)
        self._unsent.append((deque(pieces), alive))
        self.flush()

    def flush(self) -> bool:
        """Send what is left, as much as there is room for now. Returns whether all is sent."""
        while self._unsent:
            pieces = self._unsent[0][0]
            while pieces:
                if not self._send_some(pieces, socket.MSG_DONTWAIT):
                    return False
            self._unsent.popleft()
        return True

    def send(self, message: Any) -> None:
        """Send a message, and wait until it is gone.

        Raises:
            BrokenPipeError: the other end is closed.
        """
        self.send_pieces(*_pieces(message))

    def send_pieces(self, pieces: list[tuple[memoryview, list[int]]], alive: Any) -> None:
        """Send what :func:`_pieces` made of a message, and wait until it is gone.

        A worker drops its batch between the two. If it is killed when the batch has arrived, memory that has a name
        has the loader's process as its only user, and the name goes with the batch.
        """
        left = deque(pieces)
        while left:
            if not self._send_some(left, 0):
                time.sleep(0.001)  # too many descriptors are on their way: the receiver must take some first

    def _send_some(self, pieces: deque[tuple[memoryview, list[int]]], flags: int) -> bool:
        """Send a part of the first piece. Returns False if there is no room."""
        data, descriptors = pieces[0]
        along = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack(f"{len(descriptors)}i", *descriptors))]
        try:
            sent = self._socket.sendmsg([data], along if descriptors else [], flags | socket.MSG_NOSIGNAL)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno == errno.ETOOMANYREFS:
                return False
            raise
        if sent == len(data):
            pieces.popleft()
        else:
            pieces[0] = (data[sent:], [])
        return True

    # ---- receiving

    def recv(self) -> Any:
        """Wait for a message.

        Raises:
            EOFError: the stream ended, also in the middle of a message.
            RuntimeError: this process has too many open files to take the descriptors.
        """
        descriptors: list[int] = []
        try:
            size, expected = _HEADER.unpack(self._read(_HEADER.size, descriptors))
            while len(descriptors) < expected:
                self._read(1, descriptors)
            data = self._read(size, descriptors)
            _message.descriptors = descriptors
            return pickle.loads(data)
        finally:
            _message.descriptors = None
            for fd in descriptors:
                os.close(fd)

    def _read(self, size: int, descriptors: list[int]) -> bytearray:
        """Return exactly ``size`` bytes. Descriptors that come with the bytes are appended to the list."""
        data = bytearray(size)
        left = memoryview(data)
        while left:
            count, along, flags, _ = self._socket.recvmsg_into(
                [left], socket.CMSG_SPACE(4 * _MOST), socket.MSG_CMSG_CLOEXEC
            )
            for _level, _kind, content in along:
                descriptors.extend(struct.unpack(f"{len(content) // 4}i", content[: len(content) // 4 * 4]))
            if flags & socket.MSG_CTRUNC:
                raise RuntimeError(_TOO_MANY_FILES)
            if count == 0:
                raise EOFError("the other end of the channel is closed")
            left = left[count:]
        return data
