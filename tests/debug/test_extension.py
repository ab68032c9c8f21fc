"""Our extension for VS Code: Python and C++ in one click, its pickers, its package, and `make code`.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: VS Code's window: its part is played by vscode_host.js, which needs node.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import reftorch
from tests.debug.dap import PATIENCE
from tests.debug.host import NODE, Host, Hosted
from tests.debug.kernel import Notebook, state_of, tracer_of
from tests.debug.launch import (
    CELL,
    CELL_STACK,
    EXTENSION,
    KERNEL,
    KERNEL_LINE,
    PROCESSES,
    PRODUCT_LINE,
    PROGRAM,
    ROOT,
    WAITING_WORKERS,
    WORKERS,
    configuration,
    drives,
    line_of,
    look_around,
    quick,
    write_notebook,
)

needs_node = pytest.mark.skipif(NODE is None, reason="needs node, in which the extension runs: apt install nodejs")
ITEM_LINE = line_of(WAITING_WORKERS, "        return a * a")
REFUSED = [sys.executable, str(Path(__file__).with_name("deny_ptrace.py"))]


@pytest.fixture
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    host = Host(*getattr(request, "param", ()))
    try:
        yield host
    finally:
        host.close()


@pytest.fixture
def host_beside_a_useless_gdb(tmp_path: Path) -> Iterator[Host]:
    """A host whose PATH begins with a gdb that fails, as an old gdb of the system does on a new processor."""
    (tmp_path / "gdb").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "gdb").chmod(0o755)
    host = Host("env", f"PATH={tmp_path}:{os.environ['PATH']}")
    try:
        yield host
    finally:
        host.close()


def frame_of(session: Hosted, stopped: dict[str, Any]) -> dict[str, Any]:
    return session.frames(stopped["threadId"], 1)[0]


def until(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"it did not come to this: {what}"
        time.sleep(0.1)


def no_more_stops(gdb: Hosted) -> None:
    gdb.ask("setBreakpoints", source={"path": KERNEL}, breakpoints=[])


def start_and_stop_in_both(host: Host, own: dict[str, Any], file: str, line: int) -> tuple[Hosted, Hosted]:
    """Stop at the line of Python, go on, stop in the kernel."""
    host.start(own, {file: [line], KERNEL: [KERNEL_LINE]})
    python, gdb = host.opened("reftorch"), host.opened("reftorch-gdb")
    assert gdb.parent == python.number
    assert gdb.shares_console and not python.shares_console  # so the program's output is in sight at a stop in C++
    stopped = python.event("stopped")
    frame = frame_of(python, stopped)
    assert (frame["source"]["path"], frame["line"]) == (file, line)
    # Answered although gdb stops the process before Python's debugger can: the editor looks at who stopped.
    python.ask("continue", threadId=stopped["threadId"])
    return python, gdb


def set_breakpoint_by_the_name_of_an_op(gdb: Hosted, name: str) -> None:
    """While Python stands at a breakpoint: gdb takes commands only from a process that it has paused."""
    gdb.ask("pause", threadId=gdb.ask("threads")["threads"][0]["id"])
    paused = gdb.event("stopped")
    frame = frame_of(gdb, paused)["id"]
    assert "BinaryOpsKernel.cpp" in gdb.evaluate(f"rt-op {name}", frame, "repl") + gdb.printed()
    gdb.ask("continue", threadId=paused["threadId"])


def run_to_the_end(python: Hosted, gdb: Hosted, thread: int) -> None:
    no_more_stops(gdb)
    gdb.ask("continue", threadId=thread)
    assert python.event("exited")["exitCode"] == 0
    python.event("terminated")
    gdb.event("terminated")


@needs_node
@drives("Debug this file")
def test_both_languages_in_one_process(host: Host) -> None:
    own = configuration("Debug this file")
    python, gdb = start_and_stop_in_both(host, own, PROGRAM, PRODUCT_LINE)
    stopped = gdb.event("stopped")
    look_around(gdb, stopped)
    rows = [each["label"] for each in gdb.event("capabilities")["exceptionBreakpointFilters"]]
    assert rows and not [row for row in rows if "Ada" in row]
    threads = [each["name"] for each in gdb.ask("threads")["threads"]]
    assert threads.count("main") == 1
    assert "pydevd.Writer" in threads  # what Python calls its threads
    run_to_the_end(python, gdb, stopped["threadId"])
    assert "[[2.0, 2.0], [2.0, 2.0]]" in python.printed()
    # Nothing of breakpoints in Python, which are not gdb's, and of those in C++ before the library is there.
    assert not re.search(r"\.py|No source file|pending", gdb.printed())


@needs_node
@drives("Debug this test")
def test_both_languages_in_a_test(host: Host, tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text("import reftorch as torch\n\n\ndef test_it():\n    torch.ones(2) * 2\n")
    own = quick(configuration("Debug this test", file=str(test)))
    python, gdb = start_and_stop_in_both(host, own, str(test), 5)
    stopped = gdb.event("stopped")
    assert frame_of(gdb, stopped)["source"]["path"] == KERNEL
    run_to_the_end(python, gdb, stopped["threadId"])
    assert "1 passed" in python.printed()


@needs_node
@drives("Debug this file, which imports torch")
def test_both_languages_in_a_program_that_imports_torch(host: Host, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import torch\n\ny = torch.ones(2) * 2\nprint(torch.nn.__file__, y.tolist())\n")
    own = quick(configuration("Debug this file, which imports torch", file=str(program)))
    host.start(own, {str(program): [3]})
    python, gdb = host.opened("reftorch"), host.opened("reftorch-gdb")
    in_python = python.event("stopped")
    set_breakpoint_by_the_name_of_an_op(gdb, "mul")
    python.ask("continue", threadId=in_python["threadId"])
    stopped = gdb.event("stopped")
    assert frame_of(gdb, stopped)["source"]["path"] == KERNEL
    run_to_the_end(python, gdb, stopped["threadId"])
    assert "reftorch/nn/__init__.py [2.0, 2.0]" in python.printed()


@needs_node
@drives("Debug this file")
def test_both_languages_in_code_that_fx_has_written(host: Host, tmp_path: Path) -> None:
    traced = reftorch.fx.symbolic_trace(lambda x: (x * x).relu())
    traced.to_folder(tmp_path / "package", "Net")
    module, program = tmp_path / "package" / "module.py", tmp_path / "program.py"
    program.write_text(
        "import reftorch as torch\nfrom package import Net\nprint(Net()(torch.full((2,), 3.0)).tolist())\n"
    )
    own = configuration("Debug this file", file=str(program))
    line = line_of(str(module), "        mul = x * x")
    python, gdb = start_and_stop_in_both(host, own, str(module), line)
    stopped = gdb.event("stopped")
    assert frame_of(gdb, stopped)["source"]["path"] == KERNEL
    run_to_the_end(python, gdb, stopped["threadId"])
    assert "[9.0, 9.0]" in python.printed()


@needs_node
@drives("Debug this notebook")
def test_both_languages_in_a_companion_and_stopping_early(host: Host) -> None:
    """The Stop button, while gdb holds the process: gdb lets go first, so Python's debugger can end the program."""
    notebook = write_notebook()
    subprocess.run(["make", "companion", f"NOTEBOOK={notebook}"], cwd=ROOT, check=True, capture_output=True)
    own = configuration("Debug this notebook", file=notebook)
    line = line_of(own["program"], "a * a")
    host.tell(front=str(notebook))
    python, gdb = start_and_stop_in_both(host, own, own["program"], line)
    assert frame_of(gdb, gdb.event("stopped"))["source"]["path"] == KERNEL
    python.ask("disconnect", terminateDebuggee=True)
    gdb.event("terminated")
    pid = int(gdb.configuration["pid"])
    until(lambda: not Path(f"/proc/{pid}").exists() or state_of(pid) == "Z", "the program is ended")


@needs_node
@drives("Attach to a running process")
def test_both_languages_in_a_kernel(host: Host) -> None:
    notebook = Notebook(ROOT / "tests" / "debug", {"REFTORCH_ALLOW_PTRACE": "1"})
    try:
        assert not notebook.run(CELL, timeout=PATIENCE).error
        host.tell(pick="reftorch-debug.pickKernel")
        while "picked" not in (what := host.said.get(timeout=PATIENCE) or {}):
            offered = [item["description"] for item in what["offered"]]  # other kernels run on this machine as well
            assert str(notebook.pid) in offered
        own = configuration("Attach to a running process", **{"command:pickProcess": notebook.pid})
        host.start(own, {KERNEL: [KERNEL_LINE]})
        python, gdb = host.opened("reftorch"), host.opened("reftorch-gdb")
        gdb.event("process")  # it has attached
        until(lambda: state_of(notebook.pid) in "SR", "the kernel runs on")
        cell = notebook.send("(a * b).tolist()")
        stopped = gdb.event("stopped")
        look_around(gdb, stopped, CELL_STACK)
        no_more_stops(gdb)
        gdb.ask("continue", threadId=stopped["threadId"])
        assert notebook.result(cell, PATIENCE).text == "[[2.0, 4.0], [6.0, 8.0]]"
        python.ask("disconnect", terminateDebuggee=False)
        gdb.event("terminated")
        assert tracer_of(notebook.pid) == 0
        assert state_of(notebook.pid) in "SR"
        assert notebook.run("6 * 7", PATIENCE).text == "42"
    finally:
        notebook.close()


@needs_node
@drives("Debug this file")
@pytest.mark.parametrize(
    ("program", "text", "count", "printed"),
    [
        (PROCESSES, "    return a * b", 1, "exit codes 0 0"),
        (WORKERS, "        return a * a", 2, "spawn [[[4.0, 4.0]], [[9.0, 9.0]]]"),
    ],
    ids=["processes", "workers of a loader"],
)
def test_children_that_are_forked_and_spawned(host: Host, program: str, text: str, count: int, printed: str) -> None:
    """Each process gets a pair of sessions of its own, and stops in both languages, `count` times."""
    line = line_of(program, text)
    host.start(configuration("Debug this file", file=program), {program: [line], KERNEL: [KERNEL_LINE]})
    root = host.opened("reftorch")
    stops: list[tuple[str, str]] = []
    end = time.monotonic() + 2 * PATIENCE
    while root.event_or_none("terminated") is None:
        assert time.monotonic() < end, stops
        for session in list(host.sessions.values()):
            if stopped := session.event_or_none("stopped"):
                frame = frame_of(session, stopped)
                assert (frame["source"]["path"], frame["line"]) in ((program, line), (KERNEL, KERNEL_LINE))
                stops.append((session.number, Path(frame["source"]["path"]).name))
                session.post("continue", threadId=stopped["threadId"])
        time.sleep(0.05)
    files = [file for _, file in stops]
    assert files == [Path(program).name, "BinaryOpsKernel.cpp"] * 2 * count
    assert len({session for session, _ in stops}) == 4
    assert printed in root.printed()


@pytest.fixture
def waiting_workers() -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A program without a debugger, and its two workers, which wait."""
    environment = configuration("Debug this file")["env"]  # so that debuggers may attach
    command = [sys.executable, WAITING_WORKERS]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes, cwd=ROOT, env=os.environ | environment) as program:
        try:
            assert program.stdout is not None
            yield program, [int(pid) for pid in program.stdout.readline().split()]
        finally:
            program.kill()


def attach_to_worker(host: Host, pid: int) -> tuple[Hosted, Hosted]:
    """Python's debugger and gdb, attached to a worker that makes items of waiting_workers.py."""
    own = configuration("Attach to a running process", **{"command:pickProcess": pid})
    host.start(own, {WAITING_WORKERS: [ITEM_LINE], KERNEL: [KERNEL_LINE]})
    python, gdb = host.opened("reftorch"), host.opened("reftorch-gdb")
    gdb.event("process")  # gdb has attached
    until(lambda: state_of(pid) in "SR", "the worker runs on")
    return python, gdb


def stop_in_both_languages(python: Hosted, gdb: Hosted) -> int:
    """Wait for the stop in the item, go on to the stop in its kernel, and return the thread that stands there."""
    stopped = python.event("stopped")
    frame = frame_of(python, stopped)
    assert (frame["source"]["path"], frame["line"], frame["name"]) == (WAITING_WORKERS, ITEM_LINE, "__getitem__")
    python.ask("continue", threadId=stopped["threadId"])
    thread = gdb.event("stopped")["threadId"]
    kernel = gdb.frames(thread, 1)[0]
    assert (kernel["source"]["path"], kernel["line"]) == (KERNEL, KERNEL_LINE)
    assert gdb.evaluate("iter.numel()", kernel["id"]) == "2"
    return thread


def let_go(python: Hosted, gdb: Hosted, thread: int) -> None:
    no_more_stops(gdb)
    gdb.ask("continue", threadId=thread)
    python.ask("disconnect", terminateDebuggee=False)
    gdb.event("terminated")


@needs_node
@drives("Attach to a running process")
def test_both_languages_in_two_workers_at_once(
    host_beside_a_useless_gdb: Host, waiting_workers: tuple[subprocess.Popen[str], list[int]]
) -> None:
    """The picker offers the workers, each gets a pair of sessions, and both stand in the kernel at the same time."""
    host, (program, pids) = host_beside_a_useless_gdb, waiting_workers
    host.tell(pick="reftorch-debug.pickWorker")
    offered = {item["description"]: item["label"] for item in host.wait_for("offered")}
    host.wait_for("picked")
    assert len(pids) == 2
    for pid in map(str, pids):  # there may be workers of other programs
        assert re.fullmatch(r"worker of a DataLoader, started by process \d+", offered[pid])
    assert str(program.pid) not in offered

    pairs = [attach_to_worker(host, pid) for pid in pids]
    assert program.stdin is not None and program.stdout is not None
    program.stdin.write("\n")
    program.stdin.flush()
    threads = [stop_in_both_languages(*pair) for pair in pairs]
    for pair, thread in zip(pairs, threads, strict=True):
        let_go(*pair, thread)
    assert program.stdout.read() == "[4.0, 9.0, 16.0, 25.0, 36.0, 49.0]\n"
    assert program.wait(PATIENCE) == 0


LOADER_IN_A_CELL = """
from tests.debug.waiting_workers import DataLoader, Squares
items = iter(DataLoader(Squares(), batch_size=None, num_workers=1, prefetch_factor=1, multiprocessing_context="fork"))
first = next(items)
print(items._workers.processes[0].pid)
"""


@needs_node
@drives("Attach to a running process")
def test_both_languages_in_a_worker_of_a_notebook(host: Host) -> None:
    """A fork of the kernel. Other workers are processes of their own, as those of the test above are."""
    notebook = Notebook(ROOT / "tests" / "debug", {"REFTORCH_ALLOW_PTRACE": "1"})
    try:
        begun = notebook.run(LOADER_IN_A_CELL, PATIENCE)
        assert not begun.error
        pair = attach_to_worker(host, int(begun.stdout))
        rest = notebook.send("[item[0].item() for item in [first, *items]]")
        let_go(*pair, stop_in_both_languages(*pair))
        assert notebook.result(rest, PATIENCE).text == "[4.0, 9.0, 16.0, 25.0, 36.0, 49.0]"
    finally:
        notebook.close()


@needs_node
@pytest.mark.parametrize(
    ("host", "gdb", "said"),
    [
        ((), "/no/such/gdb", r"No gdb of version 14 .*/no/such/gdb is not there.*make lab"),
        ((), "/bin/true", "/bin/true has no Python inside, or does not start"),
        (tuple(REFUSED), None, r"gdb could not attach: .*ptrace: Operation not permitted.*make doctor"),
    ],
    indirect=["host"],
    ids=["no gdb", "not a gdb", "refused"],
)
def test_without_gdb_python_is_debugged_and_the_reason_is_said(host: Host, gdb: str | None, said: str) -> None:
    own = configuration("Debug this file")
    host.start(own | ({"gdb": gdb} if gdb else {}), {})
    python = host.opened("reftorch")
    assert re.search("only Python is debugged: .*" + said, host.wait_for("warning"), re.S)
    assert python.event("exited")["exitCode"] == 0


def test_the_package_is_complete_and_the_same_each_time() -> None:
    made = []
    for _ in range(2):
        done = subprocess.run(
            ["make", "--no-print-directory", "vsix"], cwd=ROOT, check=True, capture_output=True, text=True
        )
        made.append((ROOT / done.stdout.strip().split("\n")[-1]).read_bytes())
    assert made[0] == made[1]
    with zipfile.ZipFile(ROOT / done.stdout.strip().split("\n")[-1]) as archive:
        names = set(archive.namelist())
        manifest = archive.read("extension.vsixmanifest").decode()
        types = archive.read("[Content_Types].xml").decode()
        said = json.loads(archive.read("extension/package.json"))
        licence = archive.read("extension/LICENSE").decode()
    assert licence == (ROOT / "LICENSE").read_text()
    assert {f"extension/{path.name}" for path in EXTENSION.iterdir()} < names
    assert set(re.findall(r'Path="(.*?)"', manifest)) <= names
    assert f'Version="{said["version"]}"' in manifest
    assert "extension/" + said["main"].removeprefix("./") in names
    for name in names - {"[Content_Types].xml", "extension/LICENSE"}:
        assert f'Extension="{Path(name).suffix}"' in types


def open_editor(editor: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / ".ci" / "editor.py"), "open"]
    environment = os.environ | {"REFTORCH_EDITOR": editor}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_make_code_installs_the_extension_and_opens_the_checkout(tmp_path: Path) -> None:
    editor = tmp_path / "code"
    editor.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n')
    editor.chmod(0o755)
    assert open_editor(str(editor)).returncode == 0
    install, opened = (tmp_path / "calls").read_text().splitlines()
    assert re.fullmatch(r"--install-extension /.*/reftorch-debug-.*\.vsix --force", install)
    assert opened == f"--disable-workspace-trust {ROOT}"  # which no setting of a folder can say


def test_make_code_names_the_address_of_code_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that it will listen at, without the welcome page, which a folder's settings cannot turn off there."""
    monkeypatch.setenv("HOME", str(tmp_path))
    editor = tmp_path / "code-server"
    editor.write_text("#!/bin/sh\n")
    editor.chmod(0o755)
    query = rf"folder={str(ROOT).replace('/', '%2F')}&payload=\S*skipWelcome\S*"
    assert re.search(rf"open http://127\.0\.0\.1:8080/\?{query}; the password", open_editor(str(editor)).stdout)
    (tmp_path / ".config" / "code-server").mkdir(parents=True)
    (tmp_path / ".config" / "code-server" / "config.yaml").write_text("bind-addr: 0.0.0.0:9000\nauth: password\n")
    assert "open http://0.0.0.0:9000/?folder=" in open_editor(str(editor)).stdout


def test_make_code_says_what_to_do_where_there_is_no_editor() -> None:
    done = open_editor("/no/such/editor")
    assert done.returncode == 1
    assert "REFTORCH_EDITOR=/no/such/editor is not there" in done.stderr
    assert "code-server" in done.stderr
