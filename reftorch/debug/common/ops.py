"""A hook on every op that a program calls, forward and backward, in Python.

Mirrors: torch/utils/_python_dispatch.py
Left out: changing the behaviour of an op; ops called in threads that were already running.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import CodeType, FrameType
from typing import Any, NamedTuple

from reftorch import _C
from reftorch.debug.common.display import CELL_FILE, scrub
from reftorch.debug.common.native import root


class OpInfo(NamedTuple):
    """The facts about an op that its schema and its tags contain."""

    arguments: tuple[str, ...]
    written: frozenset[int]  # positions of arguments that the op changes
    overwritten: frozenset[int]  # positions of arguments whose old values do not matter
    is_view: bool  # its results are views of the argument's memory
    is_uninitialized: bool  # its results are uninitialized


@cache
def _schemas() -> dict[str, Any]:
    return {op["name"]: op for op in _C._get_all_op_schemas()}


@cache
def op_info(name: str) -> OpInfo:
    """Of an op by its full name, such as ``aten::add.Tensor``."""
    if name not in _schemas():  # the op was registered after the table was made
        _schemas.cache_clear()
    arguments, tags = _schemas()[name]["arguments"], _C._dispatch_tags(name)
    written = {i for i, argument in enumerate(arguments) if "!" in argument["type"]}
    in_place = 0 in written  # an out form has its outputs behind the other arguments
    keeps_old = in_place and _C.Tag.overwrites not in tags
    is_view = not written and any("(" in argument["type"] for argument in arguments)
    names = tuple(argument["name"] for argument in arguments)
    return OpInfo(
        names, frozenset(written), frozenset(() if keeps_old else written), is_view, _C.Tag.uninitialized in tags
    )


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
    return file.startswith(f"{root()}/reftorch/")


@cache
def _is_tool(file: str) -> bool:
    return file.startswith(f"{root()}/reftorch/debug/")


def _name(code: CodeType) -> str:
    return getattr(code, "co_qualname", code.co_name)


def calling_lines(frame: FrameType | None) -> Lines:
    """Of the frames from this one outwards."""
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

    Raises:
        RuntimeError: (on entering) another one is active, or a profiler runs.
    """

    def start(self, op: str, arguments: tuple) -> None:
        """An op is about to run."""

    def end(self, op: str, results: tuple | None) -> None:
        """The op has run; the results are None if it raised."""

    def observe(self) -> None:
        """Start to see the ops of this thread."""
        _C._debug.set_op_observer(self.start, self.end)

    def look_away(self) -> None:
        """Stop seeing ops."""
        _C._debug.clear_op_observer()
