"""Running a cell with gdb attached to this very process, or in a fresh process under gdb.

Mirrors: nothing in PyTorch, whose developers use their own tools.
Left out: a dialogue with gdb: a job (gdb/driver.py reads it) is complete when it starts.

Note [A gdb that ends badly]
gdb/driver.py detaches in every case, unless gdb is killed or crashes. In these cases:
- its breakpoints stay in the code of this process: the guard of csrc/debug/leftover_breakpoints.h removes a breakpoint
  that a thread hits, and mend_breakpoints() removes all of them before the guard ends;
- a SIGSTOP that gdb sent to a thread may still be pending, and would stop this process forever. So gdb runs under a
  shell that outlives gdb and sends SIGCONT, which also cancels a pending SIGSTOP. The children of this process get the
  signal too, because gdb may have followed one of them.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from reftorch.debug.common.display import show
from reftorch.debug.common.native import NeedsDebugBuild, StaleLibrary, changed_since_build, native, stale_library
from reftorch.debug.core.find_gdb import find_gdb, gdb_environment
from reftorch.debug.core.gdb_report import GdbReport

DRIVER = Path(__file__).parents[1] / "gdb" / "driver.py"
PATIENCE = 60  # seconds a stop may take
GRACE = 40  # seconds gdb has to finish after the cell is over
LEAVING = 5  # seconds gdb has to finish if it has left this process

Event = dict[str, Any]


@dataclass
class Job:
    """The job of gdb; see gdb/driver.py."""

    breaks: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    stops: int = 1
    context: int = 2
    trace: bool = False
    over: bool = False
    locals: list[str] = field(default_factory=list)
    max_lines: int = 60
    patience: int = field(default_factory=lambda: PATIENCE)


class GdbFailed(RuntimeError):
    """gdb failed; the message says why, and how to fix the problem."""


def events_of(path: Path) -> list[Event]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(errors="replace").splitlines() if line.endswith("}")]


PTRACE_SCOPE = Path("/proc/sys/kernel/yama/ptrace_scope")


def why_no_attach(log: str) -> str:
    """Return gdb's own message, and how to fix the problem."""
    lines = log.splitlines()
    told = ("ptrace", "ttach", "took longer")
    said = next((line for word in told for line in lines if word in line), log.strip()[-300:])
    level = PTRACE_SCOPE.read_text().strip() if PTRACE_SCOPE.exists() else "0"
    if "took longer" in said:
        fix = (
            "the machine may be busy with other things: run the cell again; `make doctor` tries the same step by step."
        )
    elif level in ("2", "3"):
        fix = (
            f"{PTRACE_SCOPE} is {level}, so that nobody may attach but root (2) or nobody at all (3). As root:\n"
            "sysctl kernel.yama.ptrace_scope=1; from 3 only a reboot leads back. `--fresh` needs no attaching."
        )
    elif "not permitted" in log:
        fix = (
            "This machine does not let a process be traced. In a container, start it with --cap-add=SYS_PTRACE\n"
            "(and --security-opt seccomp=unconfined on old kernels). `--fresh` may work where attaching does not."
        )
    else:
        fix = "`make doctor` tries the same step by step."
    return f"gdb could not attach to this process: {said}\nFix: {fix}"


def start_gdb(job: dict[str, Any], folder: Path, keep: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
    """Start gdb with the driver. The output goes to files: this process cannot read a pipe while gdb stops it."""
    (folder / "job.json").write_text(json.dumps(job | {"pid_file": str(folder / "pid")}))
    environment = gdb_environment() | {"REFTORCH_GDB_JOB": str(folder / "job.json")}
    gdb = [find_gdb().path, "-nx", "-q", "-batch", "-x", str(DRIVER)]
    me = job.get("pid", os.getpid())
    children = f"grep -lsE '^PPid:\\s*{me}$' /proc/[0-9]*/status | cut -d/ -f3"
    outlives = f'trap : TERM INT HUP; "$@"; kill -CONT {me} $({children})'
    with open(folder / "gdb.log", "w") as log:
        return subprocess.Popen(
            ["sh", "-c", outlives, "sh", *gdb], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
            pass_fds=keep, start_new_session=True,
        )  # fmt: skip


def signal_gdb(gdb: subprocess.Popen[bytes], folder: Path, number: int) -> None:
    """Send a signal to gdb but not to the shell that outlives it."""
    with contextlib.suppress(ProcessLookupError):
        try:
            os.kill(int((folder / "pid").read_text()), number)
        except (FileNotFoundError, ValueError):  # gdb has not attached yet
            os.killpg(gdb.pid, number)


def end_gdb(gdb: subprocess.Popen[bytes], folder: Path, seconds: float) -> None:
    """Wait for gdb to end. If it does not, ask it to end (it detaches), and then kill it."""
    for wait, ask in ((seconds, signal.SIGTERM), (GRACE, signal.SIGKILL)):
        try:
            gdb.wait(wait)
            return
        except subprocess.TimeoutExpired:
            signal_gdb(gdb, folder, ask)
    gdb.wait()


@contextlib.contextmanager
def mended_afterwards(folder: Path) -> Iterator[None]:
    """Remove the breakpoints that gdb left in the code of this process: see Note [A gdb that ends badly]."""
    debug = native().debug
    debug.guard_breakpoints(True)
    _running.append(folder)
    try:
        yield
    finally:
        _running.pop()
        if not has_ended(folder):
            debug.mend_breakpoints()
        debug.guard_breakpoints(False)


_running: list[Path] = []  # the folder of the session that is attached to this process


def report_crash() -> None:
    """Show the report of gdb. After a crash, gdb makes this process call the function, as its last action."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    # the report shows the crash, so there is no core file in the user's folder
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    show(GdbReport(events_of(_running[-1] / "events")))
    sys.stdout.flush()
    sys.stderr.flush()
    time.sleep(1)  # a notebook's messages are sent by another thread


def has_ended(folder: Path) -> bool:
    """Return whether gdb ended normally."""
    return any(event["kind"] == "end" for event in events_of(folder / "events"))


def check_build() -> None:
    if "reftorch/lib/Release" in native().library:
        raise NeedsDebugBuild("A stop in C++")


def check_process() -> None:
    """Check that gdb can stop this process and show its lines."""
    check_build()
    if stale_library(native().library):
        raise StaleLibrary
    if _running:
        raise GdbFailed(
            "gdb is attached to this process already: %%gdb, %%native_trace and %bt do not work inside one another.\n"
            'Fix: for the stack at a stop take `-c "rt-bt"`, for a second place name both: %%gdb mul add -n 2.'
        )
    tracer = tracer_of_this_process()
    if tracer:
        raise GdbFailed(
            f"{tracer} is attached to this process already, and only one debugger can be.\n"
            "Fix: let it go (in an editor: Disconnect), or set the breakpoint there; or run the cell with --fresh."
        )


def tracer_of_this_process() -> str:
    """Return the name and the number of the process that traces this process; empty if there is none."""
    status = Path("/proc/self/status").read_text()
    tracer = status.split("TracerPid:")[1].split()[0]
    if tracer == "0":
        return ""
    try:
        words = Path(f"/proc/{tracer}/cmdline").read_text(errors="replace").split("\0")
    except OSError:
        words = []
    # A gdb from PyPI is started by its own loader, so its name is not the first word.
    name = next(
        (base for base in map(os.path.basename, words) if base in ("gdb", "lldb", "strace")), "another debugger"
    )
    return f"{name} (process {tracer})"


def with_remarks(events: list[Event]) -> list[Event]:
    """Return the events, with a warning if the shown lines are not the lines that ran."""
    places = [event["file"] for event in events if "file" in event]
    places += [frame[2] for event in events for frame in event.get("stack", ())]
    changed = changed_since_build(places, native().library)
    return [*events, {"kind": "note", "text": changed}] if changed else events


def run_attached(run_cell: Callable[[], Any], job: Job) -> tuple[list[Event], Any]:
    """Call `run_cell` while gdb is attached to this process; return the report of gdb and the result of `run_cell`.

    In every case, gdb has ended when this function returns, and the process continues.

    Raises:
        GdbFailed: gdb could not attach, or another one is attached.
        StaleLibrary: the library was rebuilt after it was loaded.
        GdbNotFound: there is no gdb.
        NeedsDebugBuild: the loaded build has no symbols to show.
    """
    check_process()
    folder = Path(tempfile.mkdtemp(prefix="reftorch-gdb-"))
    try:
        with mended_afterwards(folder):
            result = run_beside_gdb(run_cell, job, folder)
        events = events_of(folder / "events")
        if not has_ended(folder):
            text = f"ended before it was done: the stop took longer than {job.patience} s, or somebody ended it"
            events.append({"kind": "error", "text": text})
        return with_remarks(events), result
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def addresses() -> dict[str, int]:
    """Return the addresses of the functions that gdb needs, because a search by name would make gdb read many
    symbols.
    """
    library = ctypes.CDLL(native().library)  # the library is loaded and its file is unchanged, see check_process
    names = {"sentinel": "reftorch_debug_sentinel", "py_stack": "reftorch_debug_py_stack"}
    return {key: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for key, name in names.items()}


def extensions() -> list[str]:
    """Return the libraries of extensions and kernels that this process has compiled, which gdb shows too."""
    compiler = sys.modules.get("reftorch._compiled_code")
    return list(compiler.loaded_libraries) if compiler else []


def run_beside_gdb(run_cell: Callable[[], Any], job: Job, folder: Path) -> Any:
    debug = native().debug
    reader, writer = os.pipe()
    try:
        attach = {"mode": "attach", "pid": os.getpid(), "extensions": extensions(), **addresses()}
        places = {"out": str(folder / "events"), "ready_fd": writer}
        try:
            gdb = start_gdb(asdict(job) | attach | places, folder, keep=(writer,))
        finally:
            os.close(writer)
        try:
            debug.allow_ptrace(gdb.pid)
            if not os.read(reader, 1):  # the other end was closed: gdb ended before it was ready
                end_gdb(gdb, folder, GRACE)
                bad = [e for e in events_of(folder / "events") if e["kind"] == "error"]
                said = "\n".join(event["text"] for event in bad)
                raise GdbFailed(why_no_attach(f"{said}\n{(folder / 'gdb.log').read_text()}"))
            return run_cell()
        finally:
            if gdb.poll() is None:
                # If gdb has followed a child (`set follow-fork-mode child`), it has left this process, and waits for a
                # stop in the child, which may live long after the cell.
                grace = GRACE if tracer_of_this_process() else LEAVING
                debug.sentinel()
                end_gdb(gdb, folder, grace)
            debug.allow_ptrace(0)
    finally:
        os.close(reader)


def run_fresh(source: str, job: Job, timeout: float = 300) -> tuple[list[Event], str]:
    """Run `source` in a new Python under gdb; return the report of gdb and the output of the program.

    Raises:
        NeedsDebugBuild: there are breakpoints, but the loaded build, which the new process would load too, has no
            lines.
        GdbNotFound: there is no gdb.
    """
    if job.breaks:
        check_build()
    folder = Path(tempfile.mkdtemp(prefix="reftorch-gdb-"))
    try:
        (folder / "cell.py").write_text(source)
        search_path = os.pathsep.join([os.getcwd(), *filter(None, [os.environ.get("PYTHONPATH")])])
        places = {"out": str(folder / "events"), "stdout": str(folder / "stdout")}
        program = {"mode": "run", "python": sys.executable, "args": shlex.quote(str(folder / "cell.py"))}
        inherited = {k: v for k, v in os.environ.items() if k.startswith(("REFTORCH_", "PYTHON")) and k != "PYTHONHOME"}
        environment = inherited | {"PYTHONPATH": search_path, "PYTHONUNBUFFERED": "1"}
        gdb = start_gdb(asdict(job) | program | places | {"environment": environment}, folder)
        why = "it ended before the program did: somebody ended it, or it crashed"
        try:
            gdb.wait(timeout)
        except subprocess.TimeoutExpired:
            why = f"the program did not end in {timeout:g} s, and was ended; without --fresh a cell has no limit"
        finally:
            if gdb.poll() is None:  # the program ends with gdb, and no state of the program must be saved
                signal_gdb(gdb, folder, signal.SIGKILL)
                gdb.wait()
        out = folder / "stdout"
        printed = out.read_text(errors="replace") if out.exists() else ""
        events = events_of(folder / "events")
        if not has_ended(folder):
            events.append({"kind": "error", "text": why})
        return with_remarks(events), printed
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def backtrace_events() -> list[Event]:
    """Attach gdb, read the stack of the calling thread, and detach."""
    return stacks_in_this_process([threading.get_native_id()], f"{DRIVER.parents[1]}/")


def stacks_in_this_process(threads: list[int], tools: str = "") -> list[Event]:
    """Attach gdb, read the stacks of some threads, and detach.

    Args:
        threads: their numbers in the system.
        tools: a folder whose innermost frames are left out, with those of the program that runs the user's code; if
            this is empty, the stacks are whole.
    """
    check_process()
    folder = Path(tempfile.mkdtemp(prefix="reftorch-gdb-"))
    try:
        job = {"mode": "backtrace", "pid": os.getpid(), "out": str(folder / "events"), **addresses()}
        job |= {"extensions": extensions(), "threads": threads, "tools": tools}
        with mended_afterwards(folder):
            gdb = start_gdb(asdict(Job()) | job, folder)
            try:
                native().debug.allow_ptrace(gdb.pid)
                end_gdb(gdb, folder, 4 * PATIENCE)
            finally:
                native().debug.allow_ptrace(0)
        events = events_of(folder / "events")
        if not any(event["kind"] == "stop" for event in events):
            said = "\n".join(event.get("text", "") for event in events)
            raise GdbFailed(why_no_attach(f"{said}\n{(folder / 'gdb.log').read_text()}"))
        return with_remarks(events)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def stacks_in_process(pid: int, threads: list[int]) -> list[Event]:
    """Attach gdb to another process that runs this library, read the stacks of some threads, and detach.

    Raises:
        GdbFailed: gdb could not attach.
        GdbNotFound, NeedsDebugBuild: there is no gdb, or no symbols.
    """
    check_build()
    folder = Path(tempfile.mkdtemp(prefix="reftorch-gdb-"))
    try:
        job = {"mode": "backtrace", "pid": pid, "out": str(folder / "events"), "extensions": extensions()}
        job |= {"py_stack": "reftorch_debug_py_stack", "threads": threads, "tools": ""}
        gdb = start_gdb(asdict(Job()) | job, folder)
        end_gdb(gdb, folder, 4 * PATIENCE)
        events = events_of(folder / "events")
        if not any(event["kind"] == "stop" for event in events):
            said = "\n".join(event.get("text", "") for event in events)
            raise GdbFailed(why_no_attach(f"{said}\n{(folder / 'gdb.log').read_text()}"))
        return events
    finally:
        shutil.rmtree(folder, ignore_errors=True)
