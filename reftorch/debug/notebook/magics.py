"""The notebook's magics: ``%%gdb``, ``%%native_trace``, ``%%calltree``, ``%bt``, ``%where_op``.

    %load_ext reftorch.debug

Mirrors: nothing in PyTorch: its developers bring their own tools.
Left out: a dialogue with gdb in the notebook; the commands to run at a stop are given with the cell.
"""

from __future__ import annotations

import argparse
import re
import shlex
from typing import Any, NoReturn

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.display import display

from reftorch.debug.common.display import scrub
from reftorch.debug.common.native import NeedsDebugBuild, StaleLibrary
from reftorch.debug.core import gdb_session as session
from reftorch.debug.core import op_sources
from reftorch.debug.core.backtrace import backtrace
from reftorch.debug.core.find_gdb import GdbNotFound
from reftorch.debug.core.gdb_report import GdbReport
from reftorch.debug.core.where_op import where_op
from reftorch.debug.notebook.call_tree import call_tree


class ToolFailed(Exception):
    """A message that is shown without a traceback; the cell counts as failed."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class CellFailed(ToolFailed):
    """The cell raised an error; its own traceback is above."""


class Parser(argparse.ArgumentParser):
    """An argparse parser that raises an error instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}\n{self.format_usage()}")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise UsageError(message or "")


def count(text: str) -> int:
    """A number of times."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text} is no number from 1 on")
    return int(text)


def gdb_parser(name: str) -> Parser:
    parser = Parser(prog=name, add_help=False)
    parser.add_argument("where", nargs="*", help="an op (mul), a C++ function, or FILE:LINE")
    parser.add_argument("-b", "--break", dest="breaks", action="append", default=[], help="the same, repeatable")
    parser.add_argument("--fresh", action="store_true", help="run the cell in a new process")
    return parser


@magics_class
class DebugMagics(Magics):
    """The magics that ``%load_ext reftorch.debug`` registers."""

    shell: InteractiveShell

    @cell_magic
    def gdb(self, line: str, cell: str) -> None:
        """Run the cell and stop in C++.

            %%gdb mul -c "rt-bt; info locals" -n 2
            %%gdb BinaryOpsKernel.cpp:30
            %%gdb --fresh

        mul        an op (its kernel), a C++ function or FILE:LINE; several are allowed
        "mul if iter.numel() == 3"
                   in quotes, on a condition in C++. One that calls functions, as this one does, takes some
                   hundredths of a second each time the place is reached; one that compares fields next to nothing
        -c         gdb commands at each stop, `;` between them
        -n         how many stops (1)
        -w         lines of source around the stop (2)
        --fresh    in a new process, which starts with nothing of this notebook: for a cell that may crash
        """
        parser = gdb_parser("%%gdb")
        parser.add_argument("-c", dest="commands", action="append", default=[])
        parser.add_argument("-n", dest="stops", type=count, default=1)
        parser.add_argument("-w", dest="context", type=int, default=2)
        asked = self._parse(parser, line)
        commands = [c.strip() for text in asked.commands for c in text.split(";") if c.strip()]
        job = session.Job(commands=commands, stops=asked.stops, context=asked.context)
        self._run(asked, cell, job)

    @cell_magic
    def native_trace(self, line: str, cell: str) -> None:
        """Run the cell and show the C++ lines of one function as they run, with what they change.

            %%native_trace mul -v n,out --max 40

        -v         only these locals, commas between them
        --over     step over calls instead of into them
        --max      how many lines (60)
        --fresh    in a new process
        """
        parser = gdb_parser("%%native_trace")
        parser.add_argument("-v", dest="locals", default="")
        parser.add_argument("--over", action="store_true")
        parser.add_argument("--max", dest="max_lines", type=count, default=60)
        asked = self._parse(parser, line)
        names = [name.strip() for name in asked.locals.split(",") if name.strip()]
        self._run(asked, cell, session.Job(trace=True, locals=names, over=asked.over, max_lines=asked.max_lines))

    @cell_magic
    def calltree(self, line: str, cell: str) -> None:
        """Run the cell and show which functions ran, in both languages.

            %%calltree --only "at/native" --hide "c10/"

        --only     only calls whose `file function` matches this pattern, and the calls that lead to them
        --hide     calls to leave out; what they call moves up
        --all      accessors and other small inline functions too
        --depth    how deep (all)
        """
        parser = Parser(prog="%%calltree", add_help=False)
        parser.add_argument("--only")
        parser.add_argument("--hide")
        parser.add_argument("--all", action="store_true")
        parser.add_argument("--depth", type=count)
        asked = self._parse(parser, line, positional=False)
        try:
            tree = call_tree(only=asked.only, hide=asked.hide, accessors=asked.all, depth=asked.depth)
        except re.error as error:
            raise UsageError(f"%%calltree: not a pattern: {error}") from None
        try:
            with tree:
                result = self.shell.run_cell(cell, store_history=False)
        except (NeedsDebugBuild, StaleLibrary) as error:
            raise ToolFailed(str(error)) from None
        display(tree)
        self._fail_with(result)

    @line_magic
    def bt(self, line: str) -> None:
        """Show the stack of this line, C++ and Python frames in one. Most telling inside a hook during `backward`."""
        try:
            display(backtrace())
        except (session.GdbFailed, GdbNotFound, NeedsDebugBuild, StaleLibrary) as error:
            raise ToolFailed(str(error)) from None

    @line_magic
    def where_op(self, line: str) -> None:
        """Show the places that make up an op: schema, function, kernel, formula, words, test, and PyTorch's.

        %where_op mul
        """
        if not line.strip():
            raise UsageError("Which op? %where_op mul")
        try:
            display(where_op(line))
        except ValueError as error:
            raise ToolFailed(str(error)) from None

    def _parse(self, parser: Parser, line: str, positional: bool = True) -> argparse.Namespace:
        try:
            asked = parser.parse_args(shlex.split(line))
        except ValueError as error:
            raise UsageError(f"{parser.prog}: {error}") from None
        if positional:
            asked.breaks += asked.where
        return asked

    def _run(self, asked: argparse.Namespace, cell: str, job: session.Job) -> None:
        if not asked.breaks and not asked.fresh:
            raise UsageError("Where to stop? Name an op, a C++ function or FILE:LINE: %%gdb mul")
        job.breaks = asked.breaks
        result: Any = None
        try:
            if asked.fresh:
                events, printed = session.run_fresh(self.shell.transform_cell(cell), job)
                print(scrub(printed), end="")
            else:
                events, result = session.run_attached(lambda: self.shell.run_cell(cell, store_history=False), job)
        except (session.GdbFailed, GdbNotFound, NeedsDebugBuild, StaleLibrary) as error:
            raise ToolFailed(str(error)) from None
        failed = result and (result.error_before_exec or result.error_in_exec)
        if not failed and not any(e["kind"] in ("stop", "line", "bad_break", "error") for e in events):
            events.append({"kind": "note", "text": never_hit(asked.breaks)})
        display(GdbReport(events))
        self._fail_with(result)

    @staticmethod
    def _fail_with(result: Any) -> None:
        error = result and (result.error_before_exec or result.error_in_exec)
        if error:
            raise CellFailed(f"The cell raised {type(error).__name__} (above); gdb is detached and the kernel runs.")


def never_hit(breaks: list[str]) -> str:
    if not breaks:
        return "The program ran to its end."
    ops = [op for asked in breaks for op in op_sources.names_of(asked.split(" if ")[0])]
    starts = [start for op in dict.fromkeys(ops) for start in op_sources.starts(op)]
    places = [f"{start.name} ({start.path.name}:{start.line})" for start in dict.fromkeys(starts)]
    waited = f" gdb waited at {', '.join(places)}." if places else ""
    return (
        f"The cell ended without reaching {', '.join(breaks)}.{waited} An op of no elements need not call its kernel, "
        "and a condition may never hold; %%calltree shows which functions run."
    )


def load_ipython_extension(shell: InteractiveShell) -> None:
    shell.register_magics(DebugMagics)
