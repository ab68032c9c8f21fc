"""Runs in gdb for a notebook: attaches to a process or starts one, stops where requested, reports in JSON lines.

    gdb -nx -q -batch -x driver.py        REFTORCH_GDB_JOB names the job, a JSON file

Mirrors: nothing in PyTorch: its developers bring their own tools.
Left out: a dialogue with gdb. A job is complete when gdb starts.

Note [Clean end]
While gdb stops a process, the process cannot free itself. So every path of this script ends in a detach: a sentinel
breakpoint that is always hit after the cell, every exception, Ctrl-C in the cell, SIGTERM, and a watchdog that ends a
stop which takes too long. All of them first stop the process and then detach. gdb's own handling of SIGTERM is not
used, because gdb 13 quits immediately and leaves its breakpoints in the running process. Output goes to files and never
to a pipe, because the process that would empty the pipe is stopped.

core/gdb_session.py handles the cases that no script can handle (gdb is killed).

Note [A gdb that hangs]
gdb 13 can wait forever for a thread that has stopped already. This happened where gdb followed a fork of a process with
several threads (`set follow-fork-mode child`): both processes stay stopped, and no command and no signal reaches gdb.
So a thread of this script watches the process while gdb lets it run. If the process does not move for as long as a stop
may take, the thread kills gdb, and the process goes on as after every gdb that ends badly.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import gdb

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import reftorch_gdb  # noqa: E402
from reftorch_gdb import commands, stack, view  # noqa: E402

FATAL = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL")
LET_GO_ATTEMPTS = 4
ATTACH_PATIENCE = 120  # seconds to attach and to read symbols
INTERRUPT_GRACE = 20  # seconds between interrupting gdb and killing it
SETTINGS = (
    "set width 0",
    "set style enabled off",
    "set unwindonsignal on",  # if a call into the process is interrupted, gdb restores the stack before the call
    # The process receives the signals of a kernel restart, not gdb. SIGINT stops the process, because gdb and the user
    # both interrupt with SIGINT.
    "handle SIGTERM SIGHUP SIGQUIT SIGTSTP nostop noprint pass",
    "handle SIGINT stop nopass",
)
# Commands that would kill or detach the process, or end gdb, in the shortest form that gdb accepts.
ENDS = re.compile(r"(k|kill?|q|qu|quit?|exit|r|run?|start?i?|deta?c?h?|atta?c?h?|disco\w*)\b")
MOVES = re.compile(r"(step|next|stepi|nexti|finish|until|advance|continue|rt-into|s|n|si|ni|fin|u|c)\b")
CRASH_ADVICE = """\
{signal} ends this process: nothing in its memory can be trusted any more.
How to go on: Jupyter starts a new kernel, with nothing in it; run the cells from the top, without this one.
To look closer, run this cell as `%%gdb --fresh`: a new process crashes then, and the kernel lives."""

# The libraries whose frames appear in a mixed stack, as patterns for `sharedlibrary`.
OURS = "/_C\\."
LIBRARIES = ("libpython", "/libc\\.so", "libstdc++")


class Ended(Exception):
    """The cell has ended or the process has exited: there is no stop to inspect."""


class Driver:
    def __init__(self, job):
        self.job = job
        self.out = open(job["out"], "w", buffering=1)  # noqa: SIM115  (open until gdb ends)
        self.attached = job["mode"] != "run"
        self.signal = self.sentinel = None
        self.hits: list = []  # the breakpoints of this stop
        self.runs = self.told_to_end = self.interrupted = False
        self.deadline = float("inf")  # when the watchdog interrupts the current block
        if self.attached:
            start_thread(self.kill_a_gdb_that_hangs)
        gdb.events.stop.connect(self.on_stop)

    def emit(self, kind, **fields):
        self.out.write(json.dumps(dict(kind=kind, **fields)) + "\n")

    def on_stop(self, event):
        self.signal = event.stop_signal if isinstance(event, gdb.SignalEvent) else None
        self.hits = event.breakpoints if isinstance(event, gdb.BreakpointEvent) else []

    def on_sigterm(self):
        """Run in a separate thread, because gdb waits outside Python while the process runs."""
        self.told_to_end = True
        if self.runs:
            os.kill(gdb.selected_inferior().pid, signal.SIGINT)

    def kill_a_gdb_that_hangs(self):
        """Run in a separate thread: see Note [A gdb that hangs]."""
        still_since = time.monotonic()
        while True:
            time.sleep(1)
            if not self.runs or not is_stopped(self.job["pid"]):
                still_since = time.monotonic()
            elif time.monotonic() > still_since + self.job["patience"]:
                self.emit("error", text=f"gdb was ended: for {self.job['patience']} s it kept this process stopped")
                os.kill(os.getpid(), signal.SIGKILL)

    # --- beginning -------------------------------------------------------------------------------------------------

    def begin(self):
        for setting in SETTINGS:
            gdb.execute(setting, to_string=True)
        if not self.attached:
            gdb.execute("file " + self.job["python"], to_string=True)
            args, stdout = self.job["args"], self.job["stdout"]
            gdb.execute(f"set args {args} > {stdout} 2>&1", to_string=True)
            for name, value in self.job["environment"].items():
                gdb.execute(f"set environment {name} {value}", to_string=True)
            return
        stack.PYTHON_STACK = self.job["py_stack"]
        # Reading the symbols of two hundred libraries would take seconds. gdb reads only the symbols of the libraries
        # in a mixed stack, and of the extensions that the process has compiled.
        gdb.execute("set auto-solib-add off", to_string=True)
        gdb.execute(f"attach {self.job['pid']}", to_string=True)
        # gdb keeps no index of the library from one session to the next (`set index-cache`). With an index, gdb 18 is
        # ready 0.2 s sooner, but then reads the debug info of a hundred files that only declare a class, for 4 s.
        gdb.execute("sharedlibrary " + OURS, to_string=True)
        extensions = [re.escape(os.path.basename(library)) for library in self.job["extensions"]]
        for library in (*LIBRARIES, *extensions):
            gdb.execute("sharedlibrary " + library, to_string=True)

    def set_breakpoints(self):
        if self.job["mode"] == "attach":
            self.sentinel = gdb.Breakpoint(f"*{self.job['sentinel']}", internal=True)
        for spec in self.job["breaks"]:
            commands.break_at(spec, lambda text: self.emit("bad_break", text=text), commands.Conditional)

    def release_the_cell(self):
        """The target reads this byte only after it runs again, so no breakpoint can be missed."""
        os.write(self.job["ready_fd"], b"R")

    # --- at a stop -------------------------------------------------------------------------------------------------

    def where(self):
        """Return (function, path, line) of the stop. Raises Ended if there is no stop to inspect."""
        if not gdb.selected_inferior().pid or gdb.selected_thread() is None or self.told_to_end:
            raise Ended
        if self.signal == "SIGINT":
            self.interrupted = time.monotonic() < self.deadline  # otherwise the watchdog sent the signal
            raise Ended
        if self.attached and gdb.newest_frame().pc() == self.job["sentinel"]:
            raise Ended
        return view.where(gdb.selected_frame())

    def report_stop(self, number):
        self.where()
        if self.attached and self.signal in FATAL:
            gdb.execute("sharedlibrary", to_string=True)  # a crash may be in a library whose symbols were not read
        self.emit(
            "stop",
            number=number,
            signal=self.signal,
            stack=[list(frame) for frame in stack.mixed()],
            **view.stop(self.job["context"]),
        )
        for command in self.job["commands"]:
            self.run_command(command)

    def report_crash(self):
        """Make the process show its report now, because the process and its notebook end when gdb detaches."""
        if not self.attached:
            return
        self.emit("note", text=CRASH_ADVICE.format(signal=self.signal))
        with self.watched(self.job["patience"]):
            gdb.execute(f"handle {' '.join(FATAL)} stop nopass", to_string=True)
            gdb.parse_and_eval("((void(*)())reftorch_debug_report_crash)()")

    @contextlib.contextmanager
    def watched(self, seconds):
        """Interrupt gdb if the block takes longer, and kill gdb if it does not react."""
        me = os.getpid()
        script = f"sleep {seconds}; kill -INT {me}; sleep {INTERRUPT_GRACE}; kill -KILL {me}"
        self.deadline = time.monotonic() + seconds
        watchdog = subprocess.Popen(["sh", "-c", script], start_new_session=True, stdin=subprocess.DEVNULL)
        try:
            yield
        except (gdb.error, KeyboardInterrupt):
            if time.monotonic() < self.deadline:
                raise
        finally:
            os.killpg(watchdog.pid, signal.SIGKILL)
            watchdog.wait()
        if time.monotonic() >= self.deadline:
            self.emit("error", text=f"gdb was ended: the stop took longer than {seconds} s")
            raise Ended
        self.deadline = float("inf")

    def run_command(self, command):
        before = self.where()
        if ENDS.match(command):
            text = f"{command}: not run, because gdb detaches by itself after the stop and the process continues."
            self.emit("command", command=command, text=text)
            return
        try:
            text = gdb.execute(command, to_string=True)
        except gdb.error as error:
            text = f"{error}\n"
        if time.monotonic() >= self.deadline:
            raise KeyboardInterrupt
        after = self.where()
        if MOVES.match(command) and after != before:
            # gdb returns no text for the line at which it stopped
            text = f"{stack.short(after[1])}:{after[2]}  {view.source_line(after[1], after[2]).strip()}\n"
        self.emit("command", command=command, text=text)

    def trace(self):
        """Step line by line until the function that was entered returns."""
        base, lines = None, 0
        while lines < self.job["max_lines"]:
            _function, path, _line = self.where()
            here = gdb.selected_frame()
            pointer = int(here.read_register("sp"))
            if base is None:
                base = pointer
            if pointer > base:
                break
            if stack.is_ours(path):
                self.emit("line", depth=view.depth_below(here, base), **view.line(self.job["locals"]))
                lines += 1
            run_on("next" if self.job["over"] else "step")
        else:
            self.emit("note", text=f"stopped after {lines} lines; see --max")

    # --- the whole -------------------------------------------------------------------------------------------------

    def run(self):
        if self.job["mode"] == "backtrace":
            with self.watched(self.job["patience"]):
                self.backtrace()
            return
        if self.attached:
            self.release_the_cell()
        self.let_run("continue" if self.attached else "run")
        number = 0
        while True:
            self.where()
            number += 1
            with self.watched(self.job["patience"]):
                if self.job["trace"] and self.signal is None:
                    self.trace()
                else:
                    self.report_stop(number)
            if self.signal in FATAL:
                self.report_crash()
                return
            if self.attached and number >= self.job["stops"]:
                return
            if number >= self.job["stops"]:  # let the process run to its end, or to a crash
                delete_breakpoints()
            self.let_run("continue")

    def let_run(self, command):
        """Let the process run to the next stop whose condition holds, or to its end."""
        while True:
            self.signal, self.hits = None, []
            self.runs = True
            run_on(command)
            self.runs = False
            conditional = [each for each in self.hits if isinstance(each, commands.Conditional)]
            if len(conditional) < len(self.hits) or not self.hits:
                return
            self.where()
            with self.watched(self.job["patience"]):
                if any(each.holds() for each in conditional):
                    return
            command = "continue"

    def backtrace(self):
        """Report the stacks of the threads of the job, the whole ones if the job names no folder of tools."""
        threads = {thread.ptid[1]: thread for thread in gdb.selected_inferior().threads()}
        for number, tid in enumerate(self.job["threads"], 1):
            if tid in threads:
                threads[tid].switch()
                frames = stack.mixed(limit=1000, whole=True)
                if self.job["tools"]:
                    frames = stack.of_caller(frames, self.job["tools"])
                self.emit("stop", number=number, signal=None, stack=[list(frame) for frame in frames])

    def let_go(self):
        """Detach, after all breakpoints are removed."""
        for attempt in range(LET_GO_ATTEMPTS):
            try:
                delete_breakpoints()
                if self.sentinel is not None and self.sentinel.is_valid():
                    self.sentinel.delete()
                pid = gdb.selected_inferior().pid
                if pid:
                    gdb.execute("detach" if self.attached else "kill", to_string=True)
                if pid and self.interrupted:
                    os.kill(pid, signal.SIGINT)
                self.emit("end")
                return
            except (gdb.error, KeyboardInterrupt) as error:  # the interrupt may have been requested before the detach
                if attempt == LET_GO_ATTEMPTS - 1:
                    self.emit("error", text=f"gdb could not detach: {error}")


def start_thread(target):
    """Start a daemon thread that no signal reaches.

    gdb's main thread learns by SIGCHLD that the process has stopped. The kernel may give SIGCHLD to any thread that
    does not block it. If another thread received it, gdb would wait forever.
    """
    kept = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # a thread begins with its maker's mask
    try:
        thread = threading.Thread(target=target, daemon=True)
        thread.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, kept)
    return thread


def is_stopped(pid):
    """Return whether a debugger keeps the process stopped."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] == "t"
    except OSError:  # the process has ended
        return False


def run_on(command):
    """Let the process run. gdb does not print the arguments at the stop, because reading them takes time."""
    kept = gdb.parameter("print frame-arguments")
    gdb.execute("set print frame-arguments none")
    try:
        gdb.execute(command, to_string=True)
    finally:
        gdb.execute(f"set print frame-arguments {kept}")


def delete_breakpoints():
    for breakpoint in gdb.breakpoints() or ():
        breakpoint.delete()


@contextlib.contextmanager
def sigterm_calls(answer):
    """Let SIGTERM call `answer` immediately, in a separate thread, for a block."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)

    def wait():
        while os.read(reader, 1) == bytes([signal.SIGTERM]):
            answer()

    thread = start_thread(wait)
    signal.signal(signal.SIGTERM, lambda *_: None)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.write(writer, b"\0")
        thread.join()


def main():
    with open(os.environ["REFTORCH_GDB_JOB"]) as f:
        driver = Driver(json.load(f))
    with open(driver.job["pid_file"], "w") as f:
        f.write(str(os.getpid()))
    with sigterm_calls(driver.on_sigterm):
        try:
            reftorch_gdb.load()
            with driver.watched(ATTACH_PATIENCE):
                driver.begin()
                driver.set_breakpoints()
            driver.run()
        except Ended:
            pass
        except KeyboardInterrupt:  # while the process computed a condition, or the stack of Python
            driver.interrupted = not driver.told_to_end
        except gdb.error as error:
            driver.emit("error", text=str(error))
        except BaseException as error:
            driver.emit("error", text=f"{type(error).__name__}: {error}")
        finally:
            driver.let_go()


main()
gdb.execute("quit")
