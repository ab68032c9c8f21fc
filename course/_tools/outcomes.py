"""Run the text of a cell in a process of its own, and show what came, beside what came elsewhere.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: what runs it: the library with a change (`rebuilds`), or torch (`real_torch`).
"""

from __future__ import annotations

import contextlib
import html
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course._tools.layout import ROOT
from course._tools.listing import BOX, CODE, HEAD

RUN_CELL = Path(__file__).with_name("run_cell.py")
TIMEOUT = 60  # seconds for a program
TEXT = f"margin:0;padding:6px 10px;{CODE};color:#1f2328"
BUILT_IN = "/__w/pytorch/pytorch"  # where the wheels of torch are built
PLAIN, MARKED = "#f6f8fa", "#fff8c5"


@dataclass(frozen=True)
class Outcome:
    """What a program printed, and how it ended: `error` is empty, or `Type: message`, or says how the process died."""

    printed: str
    error: str = ""

    def __str__(self) -> str:
        return "\n".join(filter(None, [self.printed.rstrip("\n"), self.error])) or "(no output)"


class Processes:
    """The processes that are running for one cell; after an interrupt none of them is left."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._over = False

    def run(self, command: list[str], timeout: float | None = None, **options: Any) -> tuple[int, str, str]:
        """Exit code, output and errors of a command.

        Raises:
            TimeoutError: it did not end in time, and was ended.
            KeyboardInterrupt: the cell was interrupted.
        """
        started: list[subprocess.Popen[str]] = []
        failed: list[BaseException] = []
        is_settled = threading.Event()

        def start() -> None:
            try:
                with self._lock:
                    if self._over:
                        raise KeyboardInterrupt
                    # A session of its own: Ctrl-C reaches us, and we end the command with all that it started.
                    process = subprocess.Popen(
                        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                        errors="replace", start_new_session=True, **options,
                    )  # fmt: skip
                    started.append(process)
                    self._running.add(process)
            except BaseException as error:
                failed.append(error)
            finally:
                is_settled.set()

        # An interrupt comes to the main thread alone. In another thread nothing can come between the start of the
        # process and the return of Popen, and so the process is always known to us.
        starter = threading.Thread(target=start)
        try:
            starter.start()
            is_settled.wait()
            if failed:
                raise failed[0]
            out, errors = started[0].communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self._end(started[0])
            started[0].communicate()  # closes the pipes
            raise TimeoutError(f"the program did not end in {timeout:g} s, and was ended") from None
        finally:
            if starter.ident is not None:
                is_settled.wait()
            for process in started:
                self._end(process)
            with self._lock:
                self._running.difference_update(started)
        return started[0].returncode, out, errors

    def end_all(self) -> None:
        """End what is running, and start nothing more."""
        with self._lock:
            self._over = True
            for process in self._running:
                self._end(process)

    @staticmethod
    def _end(process: subprocess.Popen[str]) -> None:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def run_program(
    program: str,
    *,
    python: str = sys.executable,
    path: tuple[str, ...] = (),
    environment: dict[str, str] | None = None,
    timeout: float = TIMEOUT,
    processes: Processes | None = None,
    under: Sequence[str] = (),
) -> Outcome:
    """Run the text of a cell in a process of its own, as a notebook would: the value of its last line is printed.

    Args:
        program: Python.
        python: the interpreter.
        path: folders to import from, before those of the interpreter.
        environment: variables to add to ours.
        timeout: seconds.
        processes: what ends the process, where the cell is interrupted.
        under: the command of a debugger, which starts the interpreter.
    """
    folders = os.pathsep.join([*path, os.getcwd()])
    variables = {**os.environ, **(environment or {}), "PYTHONPATH": folders, "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory(prefix="reftorch-cell-") as folder:
        file, report = Path(folder) / "cell.py", Path(folder) / "error"
        file.write_text(program)
        command = [*under, python, str(RUN_CELL), str(file), str(report)]
        try:
            code, out, errors = (processes or Processes()).run(command, timeout, env=variables)
        except TimeoutError as error:
            return Outcome("", str(error))
        printed = _without_places(out + errors, path)
        if report.exists():
            return Outcome(printed, _without_places(report.read_text(), path))
        return Outcome(printed, ended_by(code))


def ended_by(code: int) -> str:
    """Return how a process ended, in words; empty where it ended well."""
    if code < 0:
        return f"the process was ended by {signal.Signals(-code).name}"
    return f"the process ended with exit code {code}" if code else ""


def _without_places(text: str, path: tuple[str, ...]) -> str:
    """The text without the folders of this machine: the checkout, the scratch folder, the interpreter."""
    text = re.sub(r"\S*/site-packages/", "", text)
    for folder in (*path, str(ROOT), sys.prefix, sys.base_prefix, BUILT_IN):
        text = text.replace(f"{folder}/", "")
    return text


@contextlib.contextmanager
def ended_together() -> Iterator[Processes]:
    """Let processes run in the block; none of them is left afterwards, also after Ctrl-C."""
    processes = Processes()
    try:
        yield processes
    finally:
        processes.end_all()


def indented(outcome: Outcome) -> str:
    """The outcome as lines below a heading."""
    return "\n".join(f"    {line}".rstrip() for line in str(outcome).splitlines())


def framed(head: str, columns: Sequence[tuple[str, Outcome, str]], above: str = "") -> str:
    """A frame with a header, something `above`, and outcomes side by side, each with its title and its colour."""
    cells = "".join(
        f'<div style="flex:1 1 300px;min-width:0;border-right:1px solid #d8dee4">'
        f'<div style="padding:4px 10px;background:{colour};color:#1f2328;font-size:12px"><b>{title}</b></div>'
        f'<pre style="{TEXT};white-space:pre-wrap">{html.escape(str(outcome))}</pre></div>'
        for title, outcome, colour in columns
    )
    return (
        f'<div style="{BOX}"><div style="{HEAD}">{head}</div>{above}'
        f'<div style="display:flex;flex-wrap:wrap">{cells}</div></div>'
    )
