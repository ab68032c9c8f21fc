"""Every op that a program calls, forward and backward, seen from Python.

Mirrors: torch/utils/_python_dispatch.py
Left out: changing what an op does; ops called in threads that were running before.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import CodeType, FrameType
from typing import Any, NamedTuple

from reftorch import _C
from reftorch.debug._gdb_report import CELL_FILE, scrub
from reftorch.debug._native import root

# Ops in place whose result owes nothing to what was there before.
OVERWRITES = {"copy_", "fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_", "geometric_"}
OVERWRITES |= {"cauchy_", "log_normal_"}


class OpInfo(NamedTuple):
    """What a schema says of an op."""

    arguments: tuple[str, ...]
    overwritten: frozenset[int]  # positions of arguments whose old values count for nothing
    is_view: bool  # its results are the argument's memory, looked at in another way
    is_uninitialized: bool  # its results hold whatever was in memory


@cache
def _schemas() -> dict[str, Any]:
    return {op["name"]: op for op in _C._get_all_op_schemas()}


@cache
def op_info(name: str) -> OpInfo:
    """Of an op by its full name, such as ``aten::add.Tensor``."""
    arguments = _schemas()[name]["arguments"]
    base = base_name(name)
    written = {i for i, argument in enumerate(arguments) if "!" in argument["type"]}
    keeps_old = base.endswith("_") and base not in OVERWRITES
    is_view = not written and any("(" in argument["type"] for argument in arguments)
    is_uninitialized = base.startswith(("empty", "new_empty", "resize"))
    names = tuple(argument["name"] for argument in arguments)
    return OpInfo(names, frozenset(() if keeps_old else written), is_view, is_uninitialized)


def base_name(name: str) -> str:
    """aten::add.Tensor -> add"""
    return name.removeprefix("aten::").partition(".")[0]


@dataclass(frozen=True)
class Line:
    """A line of Python."""

    file: str
    number: int
    function: str

    @property
    def place(self) -> str:
        """As a reader knows the file: a cell, a path within the checkout, or a path."""
        return f"{scrub(CELL_FILE.sub('<cell>', self.file))}:{self.number}"

    @property
    def source(self) -> str:
        """The line's text, where it can be had."""
        return linecache.getline(self.file, self.number).strip()

    def __str__(self) -> str:
        return f"{self.place}  {self.source}".rstrip()


class Lines(NamedTuple):
    """Who called an op: the innermost line, and the innermost that is not the library's."""

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
    """Base of what sees every op while it is entered: ``start`` before each call, ``end`` after it.

    Raises:
        RuntimeError: (on entering) another one is entered, or a profiler runs.
    """

    def start(self, op: str, arguments: tuple) -> None:
        """An op is about to run."""

    def end(self, op: str, results: tuple | None) -> None:
        """The op has run; None where it raised."""

    def observe(self) -> None:
        """From now on this thread's ops are seen."""
        _C._debug.set_op_observer(self.start, self.end)

    def look_away(self) -> None:
        """No more."""
        _C._debug.clear_op_observer()
