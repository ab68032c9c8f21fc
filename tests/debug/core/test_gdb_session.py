"""How a session with gdb begins and ends in a real kernel: what cannot begin says why, and nothing is left behind.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: what a stop shows; see test_magics.py in tests/debug/notebook.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from reftorch.debug.core import gdb_session
from reftorch.debug.core.find_gdb import candidates, find_gdb, gdb_environment, probe
from tests.debug.kernel import Notebook, state_of, tracer_of

GDBS = [path for path in candidates() if not isinstance(probe(path), str)]


@pytest.fixture(scope="module", autouse=True)
def _tensors(kernel: Notebook) -> None:
    assert not kernel.run("a = torch.arange(4.0).reshape(2, 2)\nb = torch.ones(2, 2) * 2").error


def test_without_a_gdb(notebook: Notebook) -> None:
    notebook.run("import os; os.environ['REFTORCH_GDB'] = '/no/such/gdb'")
    try:
        cell = notebook.run("%%gdb mul\nran = a * b")
        assert "No gdb of version 12 or newer was found: /no/such/gdb does not start" in cell.error
        assert "Fix:" in cell.error
        assert "NameError" in notebook.run("ran").error, "the cell must not run without what it was to show"
    finally:
        notebook.run("del os.environ['REFTORCH_GDB']")


def test_gdb_that_cannot_attach(notebook: Notebook, tmp_path: Path) -> None:
    """A gdb whose `attach` is refused, as by the kernel in a container."""
    refusing = tmp_path / "gdb"
    refusal = "ptrace: Operation not permitted."
    refusing.write_text(
        f'#!/bin/sh\ncase "$*" in *driver.py*) echo "{refusal}" >&2; exit 1;; *) exec {find_gdb().path} "$@";; esac\n'
    )
    refusing.chmod(0o755)
    notebook.run(f"import os; os.environ['REFTORCH_GDB'] = '{refusing}'")
    try:
        cell = notebook.run("%%gdb mul\nc = a * b")
        assert f"gdb could not attach to this process: {refusal}" in cell.error
        assert "Fix:" in cell.error
    finally:
        notebook.run("del os.environ['REFTORCH_GDB']")


END_GDB = (
    "%%gdb mul\n"
    "import os, signal, time\n"
    "tracer = int(open('/proc/self/status').read().split('TracerPid:')[1].split()[0])\n"
    "os.kill(tracer, signal.{signal})\n"
    "end = time.monotonic() + 120\n"
    "while f'TracerPid:\\t{{tracer}}\\n' in open('/proc/self/status').read() and time.monotonic() < end:\n"
    "    time.sleep(0.05)\n"
    "c = a * b\n"
    "print('went on')"
)


@pytest.mark.parametrize("signal_name", ["SIGTERM", "SIGKILL"])
def test_a_gdb_that_is_ended_from_outside_leaves_nothing(notebook: Notebook, signal_name: str) -> None:
    """Ended while the process runs, gdb leaves its breakpoints in the code: the product runs into one."""
    cell = notebook.run(END_GDB.format(signal=signal_name))
    assert cell.stdout == "went on\n"
    again = notebook.run("%%gdb mul\nc = a * b\nprint('went on')")
    assert again.stdout == "went on\n"
    assert "stop 1" in again.text


def test_a_stop_that_takes_too_long_is_ended(notebook: Notebook) -> None:
    """The next test shows that gdb can stop in this kernel again."""
    notebook.run("import reftorch.debug.core.gdb_session as session\nkept, session.PATIENCE = session.PATIENCE, 8")
    try:
        cell = notebook.run("%%gdb mul -c \"python exec('while True: pass')\"\nc = a * b\nprint('went on')")
        assert cell.stdout == "went on\n"
        assert "the stop took longer than 8 s" in cell.text
    finally:
        notebook.run("session.PATIENCE = kept")


def test_a_gdb_that_keeps_the_process_stopped_is_ended(notebook: Notebook) -> None:
    """Note [A gdb that hangs]: gdb waits, in the place of a stop that never comes, in a function of its own."""
    notebook.run("import reftorch.debug.core.gdb_session as session\nkept, session.PATIENCE = session.PATIENCE, 20")
    hang = "python gdb.events.stop.connect(lambda event: __import__('time').sleep(1000))"
    try:
        cell = notebook.run(f"%%gdb mul -n 2 -c \"{hang}\"\na * b\na * b\nprint('went on')")
        assert cell.stdout == "went on\n"
        assert "for 20 s it kept this process stopped" in cell.text
    finally:
        notebook.run("session.PATIENCE = kept")
    assert "stop 1" in notebook.run("%%gdb mul\nc = a * b").text


LOOK_AT_THREADS = """\
import os, re, signal
for task in set(os.listdir("/proc/self/task")) - {str(os.getpid())}:
    status = open(f"/proc/self/task/{task}/status").read()
    blocked = int(re.search(r"SigBlk:\\s*(\\w+)", status)[1], 16)
    print("thread blocks", *(name.name for name in (signal.SIGCHLD, signal.SIGINT) if blocked >> (name - 1) & 1))
"""


def test_no_thread_takes_the_signals_that_gdb_waits_for(notebook: Notebook, tmp_path: Path) -> None:
    """The kernel gives a signal to any thread that does not block it; without its SIGCHLD, gdb would wait forever."""
    (tmp_path / "look.py").write_text(LOOK_AT_THREADS)
    for option in ("", "--fresh "):
        cell = notebook.run(
            f'%%gdb {option}mul -c "source {tmp_path}/look.py"\nimport reftorch as r\nr.ones(2) * r.ones(2)'
        )
        threads = re.findall(r"thread blocks.*", cell.text)
        assert threads and set(threads) == {"thread blocks SIGCHLD SIGINT"}, (option, threads)


def test_one_gdb_at_a_time(notebook: Notebook) -> None:
    inner = "get_ipython().run_cell_magic('gdb', 'add', 'c = a + b')"
    cell = notebook.run(f"%%gdb mul\ntry:\n    {inner}\nexcept Exception as error:\n    print(error)\n%bt")
    for said in (cell.stdout, cell.error):
        assert "gdb is attached to this process already" in said
        assert '-c "rt-bt"' in said


def test_another_debugger_is_named(notebook: Notebook) -> None:
    command = [GDBS[-1], "-nx", "-q", "-batch", "-p", str(notebook.pid), "-ex", "continue"]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=gdb_environment()
    ) as other:
        end = time.monotonic() + 240
        while (tracer_of(notebook.pid) == 0 or state_of(notebook.pid) == "t") and time.monotonic() < end:
            time.sleep(0.05)
        cell = notebook.run("%%gdb mul\nran = a * b")
        other.send_signal(signal.SIGINT)
        os.kill(notebook.pid, signal.SIGINT)  # a gdb that waits for the process ends once that stops
    assert re.search(
        r"gdb.* \(process \d+\) is attached to this process already, and only one debugger can be", cell.error
    )
    assert "Fix: let it go" in cell.error
    while notebook.run("6 * 7").text != "42" and time.monotonic() < end:
        pass  # the interrupt may have met a cell


@pytest.mark.parametrize(
    ("scope", "log", "said"),
    [
        ("1", "ptrace: Operation not permitted.", r"Operation not permitted\.\nFix: .*--cap-add=SYS_PTRACE"),
        ("2", "x\nptrace: Operation not permitted.", r"scope is 2, .*sysctl kernel\.yama\.ptrace_scope=1"),
        ("3", "Could not attach to process.", r"attach to process\.\nFix: .*scope is 3, .*reboot"),
        ("0", "the stop took longer than 120 s\nat read.c", r"took longer than 120 s\nFix: the machine may be busy"),
        ("0", "strange", r"strange\nFix: `make doctor`"),
    ],
)
def test_why_gdb_could_not_attach(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scope: str, log: str, said: str
) -> None:
    (tmp_path / "ptrace_scope").write_text(scope + "\n")
    monkeypatch.setattr(gdb_session, "PTRACE_SCOPE", tmp_path / "ptrace_scope")
    assert re.search(said, gdb_session.why_no_attach(log), re.S)


def test_a_stale_library_is_refused(notebook: Notebook) -> None:
    cell = notebook.run(
        "from reftorch.debug.core import gdb_session as session\n"
        "kept, session.stale_library = session.stale_library, lambda library: True"
    )
    assert not cell.error
    try:
        cell = notebook.run("%%gdb mul\nc = a * b")
        assert "rebuilt after it was imported" in cell.error
        assert "restart the kernel" in cell.error
    finally:
        notebook.run("session.stale_library = kept")


FOLLOW = """\
import multiprocessing
from reftorch.utils.data import DataLoader, Dataset

class Scaled(Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        return torch.full((2,), float(index)) * 10
"""


@pytest.mark.parametrize(("stops", "begin"), [(2, "list(batches)"), (9, "[next(batches)]")])
def test_gdb_follows_a_worker_and_leaves_no_process(notebook: Notebook, stops: int, begin: str) -> None:
    """gdb leaves the worker after its last stop; and soon after the cell, if the stops that it waits for never come."""
    assert not notebook.run(FOLLOW).error
    for _ in range(3):
        cell = notebook.run(
            f'%%gdb mul -n {stops} -w 0 -c "set follow-fork-mode child"\n'
            "torch.ones(2) * 2\n"
            'batches = iter(DataLoader(Scaled(), num_workers=1, multiprocessing_context="fork"))\n'
            f"begun = {begin}\n"
            'print("first:", begun[0].tolist())'
        )
        # Note [A gdb that hangs]: gdb 13 did so once in twenty times on a busy machine.
        if "it kept this process stopped" not in cell.text:
            break
    assert not cell.error
    assert cell.stdout == "first: [[0.0, 0.0]]\n"
    assert "Scaled.__getitem__" in cell.text.partition("stop 2")[2], "gdb did not follow the worker"
    assert "ended before" not in cell.text
    end = "rest = list(batches)\ndel batches\nprint(len(begun) + len(rest), multiprocessing.active_children())"
    assert notebook.run(end).stdout == "3 []\n"
