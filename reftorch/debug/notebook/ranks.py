"""A notebook cell that runs as several ranks, and the outputs of the ranks side by side.

Mirrors: nothing in PyTorch: its developers bring their own tools.
Left out: processes (the ranks are threads), output while the cell runs, ``await``.

Note [Ranks of a cell]
Problem: what happens between ranks is best seen where all ranks are seen, but a launcher starts processes, which do not
have the variables of a notebook. Trick: each rank is a thread that has groups of its own, and the ranks find each other
in a HashStore; four start in some milliseconds. Each rank runs the cell in a copy of the notebook's namespace, so that
ranks do not overwrite each other's variables. Limits: only names are copied. A tensor of the notebook is one object for
all ranks, and so is the default generator of random numbers: ``torch.manual_seed`` in one rank is felt in all.
"""

from __future__ import annotations

import ast
import ctypes
import dis
import io
import linecache
import re
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import CodeType, TracebackType
from typing import Any

from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

import reftorch.distributed as dist
from reftorch._thread_local import ThreadLocal
from reftorch.debug.common.columns import Column, Shown, as_html, as_text
from reftorch.debug.common.display import scrub
from reftorch.debug.core.gdb_session import tracer_of_this_process
from reftorch.testing._internal.common_distributed import _abort_groups, _as_rank, _world_of_threads

GIVEN = ("rank", "world_size", "dist")  # the names that every rank has
FOREVER = 365.0 * 24 * 3600
PATIENCE = 5.0  # seconds in which ranks that were interrupted must end


class RankEnded(BaseException):
    """Raised in a rank that runs on although another rank has failed long ago, or the cell was interrupted."""


class Rank:
    """The variables that one rank of a cell has left: ``ranks[1].loss`` is its variable ``loss``.

    Attributes:
        rank: its number.
        names: the variables that the rank assigned, by name; each is an attribute, too.
        value: the value of the cell's last expression.
        error: the exception that ended the rank, or None.
        output: what the rank printed.
    """

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.names: dict[str, Any] = {}
        self.value: Any = None
        self.error: BaseException | None = None
        self.shown: list[Shown] = []  # texts and displayed objects, in order, by MIME type
        self.groups: Any = None  # of the thread, while the rank runs
        self.thread = 0  # its identity
        self.why_ended = ""  # for RankEnded
        # Not Thread.join: if Ctrl-C interrupts that, Python 3.11 takes a thread that runs for one that has ended.
        self.ended = threading.Event()

    @property
    def output(self) -> str:
        return "".join(each["text/plain"] for each in self.shown if each.get("printed"))

    def __getattr__(self, name: str) -> Any:
        try:
            return vars(self)["names"][name]
        except KeyError:
            raise AttributeError(
                f"rank {vars(self).get('rank')} assigned no variable {name!r}. Hint: it has {sorted(self.names)}"
            ) from None

    def __repr__(self) -> str:
        state = f", error={type(self.error).__name__}" if self.error else ""
        return f"Rank({self.rank}, names={sorted(self.names)}{state})"

    def write(self, text: str) -> None:
        """Add printed text."""
        if self.shown and self.shown[-1].get("printed"):
            self.shown[-1]["text/plain"] += text
        else:
            self.shown.append({"text/plain": text, "printed": True})


class Ranks(list[Rank]):
    """The ranks of a cell, by number; shown as columns."""

    interrupted = False  # by the user

    def columns(self) -> list[Column]:
        return [Column(f"rank {each.rank}", each.shown, failed=each.error is not None) for each in self]

    def __str__(self) -> str:
        return as_text(self.columns())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return as_html(self.columns())


# --- who prints what --------------------------------------------------------------------------------------------------

_of_thread = ThreadLocal()  # .rank: the Rank that a thread plays


class _Stream(io.TextIOBase):
    """A stream that gives the text of each rank to the rank, and other text to the stream that was there before."""

    def __init__(self, before: Any) -> None:
        self._before = before

    def write(self, text: str) -> int:
        rank = getattr(_of_thread, "rank", None)
        if rank is None:
            return int(self._before.write(text) or 0)
        rank.write(text)
        return len(text)

    def flush(self) -> None:
        self._before.flush()

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        return int(self._before.fileno())

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return str(getattr(self._before, "encoding", "utf-8"))


class _Publisher(DisplayPublisher):
    """A publisher that gives what a rank displays to the rank."""

    def __init__(self, before: DisplayPublisher) -> None:
        super().__init__(parent=before.parent)
        self._before = before

    def publish(self, data: dict[str, Any], metadata: Any = None, **kwargs: Any) -> None:  # type: ignore[override]
        rank = getattr(_of_thread, "rank", None)
        if rank is None:
            self._before.publish(data, metadata, **kwargs)
        else:
            rank.shown.append(data)


@contextmanager
def _outputs_of_ranks(shell: InteractiveShell) -> Iterator[None]:
    before = sys.stdout, sys.stderr, shell.display_pub
    sys.stdout, sys.stderr = _Stream(sys.stdout), _Stream(sys.stderr)
    shell.display_pub = _Publisher(shell.display_pub)
    try:
        yield
    finally:
        sys.stdout, sys.stderr, shell.display_pub = before


# --- the cell ---------------------------------------------------------------------------------------------------------


class _Cell:
    """A compiled cell. Its lines have the numbers that the notebook shows: the magic's line is line 1."""

    def __init__(self, shell: InteractiveShell, line: str, cell: str) -> None:
        source = "\n" + shell.transform_cell(cell)
        # JupyterLab's debugger finds the file of a cell by the whole text of the cell.
        request: Any = getattr(shell, "get_parent", dict)()
        whole = str((request.get("content") or {}).get("code", ""))
        raw = whole if whole.endswith(cell) else f"%%ranks {line}\n{cell}"
        self.shell, self.file = shell, str(shell.compile.cache(source, shell.execution_count, raw_code=raw))
        tree, flags = ast.parse(source, self.file), int(shell.compile.flags)  # of the notebook's __future__ imports
        last: ast.Expr | None = None
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
            last = tree.body.pop()
        self.statements: CodeType = compile(tree, self.file, "exec", flags, dont_inherit=True)
        self.assigned = {each.argval for each in dis.get_instructions(self.statements) if each.opname == "STORE_NAME"}
        self.last: CodeType | None = None
        if last is not None:
            self.last = compile(ast.Expression(last.value), self.file, "eval", flags, dont_inherit=True)

    def run(self, rank: Rank, world_size: int) -> None:
        """Run the cell as a rank."""
        before = dict(self.shell.user_ns, rank=rank.rank, world_size=world_size, dist=dist)
        names = dict(before)
        try:
            exec(self.statements, names)
            if self.last is not None:
                rank.value = eval(self.last, names)
                if rank.value is not None:
                    formatter: Any = self.shell.display_formatter
                    data, _ = formatter.format(rank.value)
                    rank.shown.append(data)
        finally:
            missing = object()
            rank.names = {
                name: value
                for name, value in names.items()
                if (name in self.assigned or before.get(name, missing) is not value)
                and name not in (*GIVEN, "__builtins__")
            }

    def frames_in_cell(self, error: BaseException | None) -> TracebackType | None:
        """Return the part of a traceback that begins in the cell.

        RankEnded may be raised while another error leaves the cell; then it is the traceback of that one.
        """
        while error is not None:
            begin = error.__traceback__
            while begin is not None and begin.tb_frame.f_code.co_filename != self.file:
                begin = begin.tb_next
            if begin is not None:
                return begin
            error = error.__context__
        return None

    def text_of(self, rank: Rank, ranks: Ranks) -> str:
        """Return why a rank has ended: the traceback, or the rank that failed while this one waited for it.

        What a rank that waits learns of the end of another depends on the moment, so its error is not shown.
        """
        causes = [each for each in ranks if not is_victim(each)]
        begin = self.frames_in_cell(rank.error)
        where = ""
        if begin is not None:
            where = f" in line {begin.tb_lineno}, `{linecache.getline(self.file, begin.tb_lineno).strip()}`"
        if rank.why_ended or rank.error is None:
            return f"ended{where}: {rank.why_ended}\n"
        if is_victim(rank) and causes and where:
            return f"ended{where}, because rank {causes[0].rank} raised {type(causes[0].error).__name__}\n"
        error = rank.error
        lines = traceback.format_exception(type(error), error, begin or error.__traceback__)
        text = re.sub(r"(?m)^ *[~^]+ *\n", "", "".join(lines))  # which differ between versions of Python
        return scrub(text)


def is_victim(rank: Rank) -> bool:
    """Return whether a rank has not failed, or may have failed because another has."""
    return rank.error is None or isinstance(rank.error, (dist.DistError, RankEnded))


def is_debugged() -> bool:
    """Return whether a debugger is attached, of Python or of C++: then ranks may have stopped at breakpoints."""
    debugpy: Any = sys.modules.get("debugpy")  # a kernel imports this module, whether or not a debugger is there
    return bool(debugpy and debugpy.is_client_connected()) or bool(tracer_of_this_process())


def run_as_ranks(shell: InteractiveShell, line: str, cell: str, world_size: int, timeout: float) -> Ranks:
    """Run a cell as ``world_size`` ranks, and return what they have left.

    Args:
        shell: whose variables the ranks see.
        line: the line of the magic.
        cell: the lines below it.
        world_size: how many ranks.
        timeout: after how many seconds an operation fails, and a rank ends that runs on after another has failed;
            under a debugger, there is no limit.

    Raises:
        SyntaxError: the cell is not Python.
    """
    compiled = _Cell(shell, line, cell)
    timeout = FOREVER if is_debugged() else timeout
    ranks, store, limit = Ranks(map(Rank, range(world_size))), dist.HashStore(), timedelta(seconds=timeout)
    store.set_timeout(limit)

    def play(rank: Rank, world: Any) -> None:
        _of_thread.rank, rank.thread = rank, threading.get_ident()
        try:
            with _as_rank(world, store, rank.rank, world_size, limit) as rank.groups:
                compiled.run(rank, world_size)
        except BaseException as error:
            rank.error = error
        finally:
            rank.ended.set()

    with _outputs_of_ranks(shell), _world_of_threads() as world:
        threads = [threading.Thread(target=play, args=(rank, world), name=f"rank {rank.rank}") for rank in ranks]
        for thread in threads:
            thread.daemon = True  # a rank that cannot be ended must not keep Python from ending
            thread.start()
        try:
            _wait(ranks, timeout)
        except KeyboardInterrupt:
            ranks.interrupted = True
            _end(ranks, "the cell was interrupted")
        finally:
            for rank, thread in zip(ranks, threads, strict=True):
                if rank.ended.is_set():
                    thread.join()
    for rank in ranks:
        if rank.error is not None:
            rank.shown.append({"text/plain": compiled.text_of(rank, ranks), "failed": True})
    return ranks


def _wait(ranks: Ranks, timeout: float) -> None:
    """Wait until all ranks have ended. After a rank has failed, the others have ``timeout`` seconds left."""
    end = None
    for rank in ranks:
        while not rank.ended.wait(0.05):
            failed = [each.rank for each in ranks if each.error is not None]
            if failed and end is None:
                end = time.monotonic() + timeout
            if end is not None and time.monotonic() > end:
                _end(ranks, f"rank {failed[0]} failed {timeout:g} s ago")
                return


def _end(ranks: Ranks, why: str) -> None:
    """End the ranks that run: close their connections, and raise an exception at their next line of Python."""
    running = [rank for rank in ranks if not rank.ended.is_set()]
    for rank in running:
        rank.why_ended = why
        if rank.groups is not None:
            _abort_groups(rank.groups)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(rank.thread), ctypes.py_object(RankEnded))
    end = time.monotonic() + PATIENCE
    for rank in running:
        if not rank.ended.wait(max(0.0, end - time.monotonic())):
            rank.shown.append({"text/plain": "still runs: it is in C++ or sleeps\n", "failed": True})
