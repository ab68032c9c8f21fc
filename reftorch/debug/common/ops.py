"""A hook on every op that a program calls, forward and backward, in Python.

Ops of PyTorch are seen as well, if the program has imported it; see torch_ops.py.

Mirrors: torch/utils/_python_dispatch.py
Left out: changing the behaviour of an op; ops called in threads that were already running, or in other processes.
"""

from __future__ import annotations

import contextlib
import functools
import linecache
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from types import CodeType, FrameType
from typing import Any, NamedTuple

from reftorch import _C
from reftorch.debug.common.display import CELL_FILE, scrub
from reftorch.debug.common.library import real_torch
from reftorch.debug.common.native import root
from reftorch.debug.common.torch_ops import watched


@dataclass(frozen=True)
class Line:
    """A line of Python."""

    file: str
    number: int
    function: str

    @property
    def place(self) -> str:
        """The name of the file for a reader: a cell, a path within the checkout, or a path."""
        return f"{scrub(CELL_FILE.sub('<cell>', self.file))}:{self.number}"

    @property
    def source(self) -> str:
        """The text of the line, if it is available."""
        return linecache.getline(self.file, self.number).strip()

    def __str__(self) -> str:
        return f"{self.place}  {self.source}".rstrip()


class Lines(NamedTuple):
    """The caller of an op: the innermost line, and the innermost line outside the library."""

    inner: Line
    user: Line | None


@cache
def _is_ours(file: str) -> bool:
    torch = real_torch()
    folders = [f"{root()}/reftorch/", *([f"{os.path.dirname(torch.__file__)}/"] if torch is not None else [])]
    return file.startswith(tuple(folders))


@cache
def _is_tool(file: str) -> bool:
    torch = real_torch()
    if torch is not None and file.startswith(f"{os.path.dirname(torch.__file__)}/_dynamo/"):
        return True  # a wrapper of PyTorch around backward and the modes
    return file.startswith(f"{root()}/reftorch/debug/")


def _name(code: CodeType) -> str:
    return getattr(code, "co_qualname", code.co_name)


def calling_lines(frame: FrameType | None) -> Lines:
    """Return the innermost line, and the innermost one outside of the libraries, of this frame and its callers."""
    inner = None
    for found in _frames(frame):
        file = found.f_code.co_filename
        line = Line(file, found.f_lineno, _name(found.f_code))
        inner = inner or line
        if not _is_ours(file):
            return Lines(inner, line)
    return Lines(inner or Line("", 0, ""), None)


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        if not _is_tool(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


class Observer:
    """The base class of context managers that see every op: ``start`` is called before each op, ``end`` after it.

    The ops of the thread that enters are seen, and those of each thread that starts while the block runs. Both methods
    may be called in several threads at once.

    Raises:
        RuntimeError: (on entering) another one is active, or a profiler runs.
    """

    _watching = False
    _thread = 0  # the one that has begun to observe
    _modes: contextlib.ExitStack | None = None

    def start(self, op: str, arguments: tuple) -> None:
        """Called before each op."""

    def end(self, op: str, results: tuple | None) -> None:
        """Called after each op; the results are None if the op raised."""

    def torch_result(self, value: Any) -> None:
        """Called after a function of PyTorch and all ops in it, with the returned value, which has its ``grad_fn``."""

    def observe(self) -> None:
        """Start to see the ops of this thread, and of those that it starts."""
        _C._debug.set_op_observer(self.start, self.end)
        self._watching, self._thread = True, threading.get_ident()
        self._modes = self._watch_torch()
        _starters[threading.get_ident()] = self
        threading.Thread.start = _start_observed  # type: ignore[method-assign, assignment]

    def look_away(self) -> None:
        """Stop seeing ops. Only the thread that has begun to observe can end it."""
        _C._debug.clear_op_observer()
        thread = threading.get_ident()
        if _starters.get(thread) is not self or self._thread != thread:
            return
        self._watching = False
        del _starters[thread]
        if not _starters:
            threading.Thread.start = _start  # type: ignore[method-assign]
        if self._modes is not None:
            self._modes.close()
            self._modes = None

    def _watch_torch(self) -> contextlib.ExitStack | None:
        """See the ops of PyTorch in this thread, too, if the program has imported it."""
        if real_torch() is None:
            return None
        return watched(self)

    def run_thread(self, run: Callable[[], None]) -> None:
        """Run a thread that was started in the block, and see its ops until the block ends."""
        with contextlib.ExitStack() as stack:
            if self._watching:
                _C._debug.set_op_observer(self._if_watching(self.start), self._if_watching(self.end))
                stack.callback(_C._debug.clear_op_observer)
                stack.enter_context(self._watch_torch() or contextlib.nullcontext())
                _starters[threading.get_ident()] = self
                stack.callback(_starters.pop, threading.get_ident(), None)
            run()

    def _if_watching(self, callback: Callable[[str, Any], None]) -> Callable[[str, Any], None]:
        """Return a callback for another thread, which may still run when the block has ended."""

        def called(op: str, values: Any) -> None:
            if self._watching:
                callback(op, values)
            else:
                _C._debug.clear_op_observer()

        return called


_starters: dict[int, Observer] = {}  # by thread: the observer that the threads which it starts inherit
_start = threading.Thread.start


def _start_observed(thread: threading.Thread) -> None:
    """Start a thread. If an observer watches the starting thread, the new one is watched as well."""
    observer = _starters.get(threading.get_ident())
    if observer is not None:
        thread.run = functools.partial(observer.run_thread, thread.run)  # type: ignore[method-assign]
    _start(thread)
