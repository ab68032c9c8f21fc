"""The notebook's magics: ``%%gdb``, ``%%native_trace``, ``%%calltree``, ``%%ranks``, ``%%cuda``, ``%bt`` and others.

    %load_ext reftorch.debug

Mirrors: nothing in PyTorch: its developers bring their own tools.
Left out: a dialogue with gdb in the notebook; the commands to run at a stop are given with the cell.
"""

from __future__ import annotations

import argparse
import asyncio
import contextvars
import re
import shlex
import threading
import traceback
from multiprocessing.process import BaseProcess
from typing import Any, NoReturn

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.display import display

from reftorch.debug.common.display import scrub
from reftorch.debug.common.native import NeedsDebugBuild, StaleLibrary
from reftorch.debug.common.table import counted
from reftorch.debug.core import gdb_session as session
from reftorch.debug.core import op_sources
from reftorch.debug.core.backtrace import backtrace
from reftorch.debug.core.find_gdb import GdbNotFound
from reftorch.debug.core.gdb_report import GdbReport
from reftorch.debug.core.where_op import where_op
from reftorch.debug.notebook import cuda_cell
from reftorch.debug.notebook.call_tree import call_tree
from reftorch.debug.notebook.ranks import is_victim, run_as_ranks


class ToolFailed(Exception):
    """A message that is shown without a traceback; the cell counts as failed."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class CellFailed(ToolFailed):
    """The cell raised an error; its own traceback is above."""


def tool_failed(error: Exception) -> NoReturn:
    raise ToolFailed(str(error)) from None


class Parser(argparse.ArgumentParser):
    """An argparse parser that raises an error instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}\n{self.format_usage()}")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise UsageError(message or "")


def count(text: str) -> int:
    """Return the number of an option that counts, which is at least 1."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1 on")
    return int(text)


def seconds(text: str) -> float:
    """Return the number of an option that is a time, which is above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds above 0")
    return value


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
        mul if iter.numel() == 3
                   on a condition in C++, which ends at the next option; quotes around it do no harm. One that calls
                   functions, as this one does, takes some hundredths of a second each time the place is reached;
                   one that compares fields next to nothing
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

    @cell_magic
    def ranks(self, line: str, cell: str) -> None:
        """Run the cell as several ranks of a process group, and show their outputs side by side.

            %%ranks 4
            tensor = torch.ones(2) * rank
            dist.all_reduce(tensor)
            tensor

        4          how many ranks (2)
        --timeout  after how many seconds an operation between ranks fails (30); never while a debugger is attached
        --may-fail the cell does not count as failed if a rank raises an exception

        Each rank is a thread with a default group on gloo. A rank sees the variables of the notebook, and `rank`,
        `world_size` and `dist` (`torch.distributed`) besides. What a rank assigns is its own; afterwards,
        `ranks[1].tensor` is the variable of rank 1, `ranks[1].value` the value of its last expression, `ranks[1].error`
        its exception, and `ranks` shows all outputs again. A later `%%ranks` cell goes on with `ranks[rank].model`.

        Only names are copied: a tensor of the notebook is one tensor for all ranks, and the default generator of random
        numbers is one, too: use `torch.Generator().manual_seed(rank)`. Functions that other cells define see the
        notebook's variables: pass `rank` to them, or call `torch.distributed.get_rank()`.

        If a rank raises an exception, its connections end at once, so ranks that wait for it get an error, too.
        """
        parser = Parser(prog="%%ranks", add_help=False)
        parser.add_argument("world_size", nargs="?", type=count, default=2)
        parser.add_argument("--timeout", type=seconds, default=30.0)
        parser.add_argument("--may-fail", action="store_true")
        asked = self._parse(parser, line, positional=False)
        try:
            ranks = run_as_ranks(self.shell, line, cell, asked.world_size, asked.timeout)
        except SyntaxError as error:
            raise ToolFailed(scrub("".join(traceback.format_exception_only(error)))) from None
        self.shell.user_ns["ranks"] = ranks
        display(ranks)
        if ranks.interrupted:
            raise KeyboardInterrupt
        failed = [rank for rank in ranks if rank.error is not None]
        if failed and not asked.may_fail:
            failed.sort(key=is_victim)
            kinds = "; ".join(f"rank {rank.rank} raised {type(rank.error).__name__}" for rank in failed)
            raise CellFailed(f"{kinds} (above).")

    @cell_magic
    def cuda(self, line: str, cell: str) -> None:
        """Compile a cell of CUDA C++. Its kernels become functions of the notebook.

            %%cuda
            __global__ void add(const float* a, const float* b, float* out, int n) {
              int i = blockIdx.x * blockDim.x + threadIdx.x;
              if (i < n) out[i] = a[i] + b[i];
            }

        Then `add(grid=2, block=32, args=[a, b, out, 64])` launches the kernel. Without a GPU, it runs on a simulated
        device: start Python with REFTORCH_CUDA_SIM=2 in the environment. `%%cuda` itself is line 1.

        --gdb      where to stop, for example --gdb 'cell.cu:4 if threadIdx.x == 3 && blockIdx.x == 1'
                   The next launch of a kernel of this cell stops in that thread, shows it, and runs on.
        -c         gdb commands at each stop, `;` between them: -c "print i; cuda threads"
        -n         how many stops (1)
        -w         lines of source around the stop (2)
        --watch    watch each launch: it waits for the kernel's end, and shows races, addresses outside of an array,
                   reads of unwritten memory and incomplete barriers, with line, thread and address, or that there are
                   none. Then `add.seen` is the whole report, with what each line costs. Only on a simulated device
        -D, -I     a definition and a folder for the compiler, as in -DTILE=32
        """
        parser = Parser(prog="%%cuda", add_help=False)
        parser.add_argument("--gdb", dest="breaks", action="append", default=[])
        parser.add_argument("-c", dest="commands", action="append", default=[])
        parser.add_argument("-n", dest="stops", type=count, default=1)
        parser.add_argument("-w", dest="context", type=int, default=2)
        parser.add_argument("--watch", action="store_true")
        parser.add_argument("-D", dest="definitions", action="append", default=[])
        parser.add_argument("-I", dest="folders", action="append", default=[])
        asked = self._parse(parser, line, positional=False)
        if asked.watch and asked.breaks:
            parser.error("--watch and --gdb exclude each other")
        flags = [*(f"-D{each}" for each in asked.definitions), *(f"-I{each}" for each in asked.folders)]
        try:
            said = cuda_cell.reset_failed_devices()
            kernels = cuda_cell.compile_cell(cell, flags, asked.watch)
        except (cuda_cell.NoKernel, RuntimeError, AssertionError) as error:
            raise ToolFailed(str(error)) from None
        if said:
            print(said)
        if asked.breaks:
            commands = [c.strip() for text in asked.commands for c in text.split(";") if c.strip()]
            job = session.Job(breaks=asked.breaks, commands=commands, stops=asked.stops, context=asked.context)
            kernels = {name: cuda_cell.StoppingKernel(each, job, tool_failed) for name, each in kernels.items()}
        self.shell.user_ns.update(kernels)
        print("\n".join(map(repr, kernels.values())))

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
            asked = parser.parse_args(words_of(line) if positional else shlex.split(line))
        except ValueError as error:
            raise UsageError(f"{parser.prog}: {error}") from None
        if positional:
            asked.breaks += asked.where
        return asked

    def _run(self, asked: argparse.Namespace, cell: str, job: session.Job) -> None:
        if not asked.breaks and not asked.fresh:
            raise UsageError("Where to stop? Name an op, a C++ function or FILE:LINE: %%gdb mul")
        for place in asked.breaks:
            if re.fullmatch(r"[-+]?\d+|\W+", place.split(" if ")[0].strip()):
                raise UsageError(
                    f"`{place}` is not an op, a C++ function or FILE:LINE. Hint: %%gdb BinaryOpsKernel.cpp:30"
                )
        job.breaks = asked.breaks
        result: Any = None
        processes = StartedProcesses()
        try:
            if asked.fresh:
                events, printed = session.run_fresh(self.shell.transform_cell(cell), job)
                print(scrub(printed), end="")
            else:
                with processes:
                    events, result = session.run_attached(lambda: run_cell(self.shell, cell), job)
        except (session.GdbFailed, GdbNotFound, NeedsDebugBuild, StaleLibrary) as error:
            raise ToolFailed(str(error)) from None
        failed = result and (result.error_before_exec or result.error_in_exec)
        if not failed and not any(e["kind"] in ("stop", "line", "bad_break", "error") for e in events):
            events.append({"kind": "note", "text": never_hit(asked.breaks, processes.count)})
        display(GdbReport(events))
        self._fail_with(result)

    @staticmethod
    def _fail_with(result: Any) -> None:
        error = result and (result.error_before_exec or result.error_in_exec)
        if error:
            raise CellFailed(f"The cell raised {type(error).__name__} (above); gdb is detached and the kernel runs.")


def words_of(line: str) -> list[str]:
    """Return the words of a magic's line. After ``if`` comes a condition, which is one word with the place before it.

    >>> words_of("mul if iter.numel() == 6 -n 2")
    ['mul if iter.numel() == 6', '-n', '2']
    >>> words_of("'add if x' mul")
    ['add if x', 'mul']
    """
    words: list[str] = []
    pieces = shlex.split(line, posix=False)  # which keeps quotes, because they belong to C++ in a condition
    while pieces:
        word = pieces.pop(0)
        if word == "if" and words:
            condition = []
            while pieces and not re.fullmatch(r"-[bcnwv]|--[a-z]+", pieces[0]):
                condition.append(pieces.pop(0))
            words[-1] += f" if {' '.join(condition)}"
        else:
            words += shlex.split(word)
    return words


def run_cell(shell: InteractiveShell, cell: str) -> Any:
    """Run a cell of the notebook. One with ``await`` runs in a thread with an event loop of its own, because the
    notebook's loop waits for the magic."""
    if not shell.should_run_async(cell, transformed_cell=shell.transform_cell(cell)):
        return shell.run_cell(cell, store_history=False)
    results: list[Any] = []

    def run() -> None:
        results.append(asyncio.run(shell.run_cell_async(cell, store_history=False, transformed_cell=transformed)))

    transformed = shell.transform_cell(cell)
    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), name="cell with await")
    thread.start()
    thread.join()
    return results[0] if results else None


class StartedProcesses:
    """Counts the processes that a block starts through :mod:`multiprocessing`, such as the workers of a DataLoader."""

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> StartedProcesses:
        self._start = BaseProcess.start

        def start(process: BaseProcess) -> None:
            self.count += 1
            self._start(process)

        BaseProcess.start = start  # type: ignore[method-assign, assignment]
        return self

    def __exit__(self, *exc_info: object) -> None:
        BaseProcess.start = self._start  # type: ignore[method-assign]


def never_hit(breaks: list[str], processes: int = 0) -> str:
    if not breaks:
        return "The program ran to its end."
    ops = [op for asked in breaks for op in op_sources.names_of(asked.split(" if ")[0])]
    starts = [start for op in dict.fromkeys(ops) for start in op_sources.starts(op)]
    places = [f"{start.name} ({start.path.name}:{start.line})" for start in dict.fromkeys(starts)]
    waited = f" gdb waited at {', '.join(places)}." if places else ""
    others = (
        f" The cell started {counted(processes, 'process', 'processes')}, which gdb does not follow: an op may have "
        "run there. Hint: num_workers=0 runs the work of a DataLoader in this process."
    ) * bool(processes)
    return (
        f"The cell ended without reaching {', '.join(breaks)}.{waited}{others} An op of no elements need not call its "
        "kernel, and a condition may never hold; %%calltree shows which functions run."
    )


def load_ipython_extension(shell: InteractiveShell) -> None:
    shell.register_magics(DebugMagics)
