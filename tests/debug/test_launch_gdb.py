"""C++'s configurations for every build of VS Code: gdb's own adapter, and Eclipse's.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: what our extension does around gdb's adapter (test_extension.py).
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from reftorch.debug.core.find_gdb import gdb_environment
from tests.debug.dap import PATIENCE, AdapterError, Dap
from tests.debug.kernel import Notebook, state_of, tracer_of
from tests.debug.launch import (
    CELL,
    CELL_STACK,
    KERNEL,
    KERNEL_LINE,
    LOOPS,
    PRODUCT_LINE,
    PROGRAM,
    ROOT,
    PythonSession,
    configuration,
    drives,
    line_of,
    look_around,
    quick,
)

CDT = ROOT / "build" / "npm" / "node_modules" / "cdt-gdb-adapter" / "dist" / "debugAdapter.js"


@pytest.fixture
def python_session() -> Iterator[PythonSession]:
    """Stopped on the line of the product."""
    session = PythonSession("Python only: this file", {PROGRAM: [PRODUCT_LINE]})
    try:
        yield session
    finally:
        session.close()


def start_gdb(own: dict[str, Any]) -> Dap:
    """What the extension starts for a configuration of type reftorch-gdb."""
    return Dap([own["gdb"], *own["gdbArgs"]], env=gdb_environment())


def attach(gdb: Dap, pid: int) -> None:
    """As the extension does: the stop that attaching is, is gone past."""
    gdb.begin("attach", {"pid": pid}, {KERNEL: [KERNEL_LINE]})
    gdb.event("stopped")
    gdb.ask("continue", threadId=1)


def detach(gdb: Dap) -> None:
    gdb.ask("setBreakpoints", source={"path": KERNEL}, breakpoints=[])
    gdb.ask("disconnect", terminateDebuggee=False)
    assert gdb.process.wait(PATIENCE) == 0


@drives("C++ only: attach to a running process")
def test_gdb_as_a_second_session(python_session: PythonSession) -> None:
    own = configuration("C++ only: attach to a running process", **{"command:pickProcess": python_session.pid})
    gdb = start_gdb(own)
    try:
        attach(gdb, int(own["pid"]))
        python_session.go_on()
        look_around(gdb, gdb.event("stopped"))
        detach(gdb)
        python_session.finish()
    finally:
        gdb.close()


@drives("C++ only: attach to a running process")
def test_gdb_attaches_to_a_running_kernel() -> None:
    notebook = Notebook(ROOT / "tests" / "debug", {"REFTORCH_ALLOW_PTRACE": "1"})
    own = configuration("C++ only: attach to a running process", **{"command:pickProcess": notebook.pid})
    gdb = start_gdb(own)
    try:
        assert not notebook.run(CELL, timeout=PATIENCE).error
        attach(gdb, int(own["pid"]))
        cell = notebook.send("(a * b).tolist()")
        look_around(gdb, gdb.event("stopped"), CELL_STACK)
        detach(gdb)
        assert notebook.result(cell, PATIENCE).text == "[[2.0, 4.0], [6.0, 8.0]]"
        assert tracer_of(notebook.pid) == 0
        assert state_of(notebook.pid) in "SR"
    finally:
        gdb.close()
        notebook.close()


def run_to_the_end(name: str, file: str) -> None:
    """A configuration that starts the program under gdb: the breakpoint is met once the library is loaded."""
    own = quick(configuration(name, file=file))
    gdb = start_gdb(own)
    try:
        own["env"] = dict(os.environ) | own["env"]  # as the extension does
        gdb.begin("launch", {key: own[key] for key in ("program", "args", "cwd", "env")}, {KERNEL: [KERNEL_LINE]})
        stopped = gdb.event("stopped")
        look_around(gdb, stopped)
        gdb.ask("setBreakpoints", source={"path": KERNEL}, breakpoints=[])
        gdb.ask("continue", threadId=stopped["threadId"])
        assert gdb.event("exited")["exitCode"] == 0
        gdb.event("terminated")
    finally:
        gdb.close()


@drives("C++ only: this file")
def test_gdb_starts_the_current_file() -> None:
    run_to_the_end("C++ only: this file", PROGRAM)


@drives("C++ only: this test")
def test_gdb_starts_the_current_test(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(Path(PROGRAM).read_text())  # its stack is the one that is looked for
    test = tmp_path / "test_it.py"
    test.write_text("import runpy\n\n\ndef test_it():\n    runpy.run_path(__file__.replace('test_it', 'program'))\n")
    run_to_the_end("C++ only: this test", str(test))


NAMED_THREADS = """
import reftorch as torch
from reftorch.utils.data import DataLoader

x = torch.ones(2, device="cuda", requires_grad=True)
(x * x).sum().backward()
items = iter(DataLoader([torch.zeros(2)] * 9, num_workers=1, multiprocessing_context="fork", pin_memory=True))
next(items)
big = torch.ones(1 << 20)
torch.set_num_threads(2)
print((big + big)[-1].item())
a = torch.tensor([[1.5, 2.5], [3.5, 4.5]])
print((a * a.t()).tolist())
"""
LOOP_LINE = line_of(LOOPS, "    *reinterpret_cast<stored_result*>(data[0]")


def test_what_a_side_bar_shows(tmp_path: Path) -> None:
    """Threads by their names, functions by short names, the numbers behind pointers, and variables that are alive."""
    program = tmp_path / "program.py"
    program.write_text(NAMED_THREADS)
    own = configuration("C++ only: this file", file=str(program))
    gdb = start_gdb(own)
    try:
        own["env"] = dict(os.environ) | own["env"] | {"REFTORCH_CUDA_SIM": "1"}
        gdb.begin("launch", {key: own[key] for key in ("program", "args", "cwd", "env")}, {KERNEL: [KERNEL_LINE]})
        thread = gdb.event("stopped")["threadId"]
        threads = {each["id"]: each["name"] for each in gdb.ask("threads")["threads"]}
        assert threads[thread] == "main"
        assert {"autograd device 0", "DataLoader pin", "parallel_for helper", "CUDA stream of device 0"} <= set(
            threads.values()
        )
        assert gdb.frames(thread, 1)[0]["name"] == "at::native::mul_kernel"
        gdb.ask("setBreakpoints", source={"path": LOOPS}, breakpoints=[{"line": LOOP_LINE}])
        gdb.ask("continue", threadId=thread)
        frames = gdb.frames(gdb.event("stopped")["threadId"], 24)
        short = re.compile(r"[\w:<>.~()]{1,60}( lambda)?")
        assert [frame["name"] for frame in frames if not short.fullmatch(frame["name"])] == []
        assert frames[0]["name"] == "at::native::basic_loop<...>"
        names = [frame["name"] for frame in frames]
        assert names.index("at::native::cpu_elementwise lambda") < names.index("at::dispatch lambda")
        assert names.index("at::dispatch lambda") < names.index("at::native::mul_kernel")
        shown = {}
        for scope in gdb.ask("scopes", frameId=frames[0]["id"])["scopes"][:2]:
            variables = gdb.ask("variables", variablesReference=scope["variablesReference"])["variables"]
            shown |= {each["name"]: each for each in variables if scope["name"] != "Registers"}
        assert shown["strides"]["value"] == "-> 4"
        assert re.fullmatch(r"-> \S+, 1\.5, 1\.5", shown["data"]["value"])  # the output, and both inputs
        assert shown["i"]["value"] == "0"
        (inside,) = gdb.ask("variables", variablesReference=shown["strides"]["variablesReference"])["variables"]
        assert inside["value"] == "4"
    finally:
        gdb.close()


def test_a_call_into_the_process_is_no_stop_and_outdates_nothing() -> None:
    """Told of a stop the editor would ask for everything again; by an expression in WATCH, for ever."""
    own = quick(configuration("C++ only: this file", file=PROGRAM))
    gdb = start_gdb(own)
    try:
        own["env"] = dict(os.environ) | own["env"]
        gdb.begin("launch", {key: own[key] for key in ("program", "args", "cwd", "env")}, {KERNEL: [KERNEL_LINE]})
        thread = gdb.event("stopped")["threadId"]
        frame = gdb.frames(thread)[0]["id"]
        arguments = gdb.ask("scopes", frameId=frame)["scopes"][0]["variablesReference"]
        while gdb.event_or_none("continued") is not None:
            pass
        assert "mul_kernel" in gdb.evaluate("rt-bt", frame, "repl")
        assert gdb.evaluate("iter.numel()", frame) == "4"
        assert [each["name"] for each in gdb.ask("variables", variablesReference=arguments)["variables"]] == ["iter"]
        assert gdb.event_or_none("stopped") is None
        assert gdb.event_or_none("continued") is None
        assert gdb.step("next", thread)["line"] > KERNEL_LINE
        # A call that meets a breakpoint is a stop.
        gdb.ask("setFunctionBreakpoints", breakpoints=[{"name": "reftorch_debug_py_stack"}])
        with suppress(AdapterError):
            gdb.evaluate("rt-bt", gdb.frames(thread)[0]["id"], "repl")
        assert "reftorch_debug_py_stack" in gdb.frames(gdb.event("stopped")["threadId"])[0]["name"]
    finally:
        gdb.close()


@drives("C++ only: attach to a running process (Eclipse CDT)")
@pytest.mark.skipif(shutil.which("node") is None, reason="needs node, to run cdt-gdb-adapter")
@pytest.mark.skipif(not CDT.exists(), reason="needs cdt-gdb-adapter: make test-adapters (npm)")
def test_cdt_gdb_adapter_as_a_second_session(python_session: PythonSession) -> None:
    own = configuration(
        "C++ only: attach to a running process (Eclipse CDT)", **{"command:pickProcess": python_session.pid}
    )
    cdt = Dap(["node", str(CDT)], env=gdb_environment())
    try:
        cdt.begin("attach", own, {KERNEL: [KERNEL_LINE]})
        while (early := cdt.event_or_none("stopped")) is not None:
            cdt.ask("continue", threadId=early["threadId"])
        python_session.go_on()
        look_around(cdt, cdt.event("stopped"), stack=">rt-bt")  # it takes `>` for a command of gdb's
        cdt.ask("setBreakpoints", source={"path": KERNEL}, breakpoints=[])
        cdt.ask("disconnect", terminateDebuggee=False)
        python_session.finish()
    finally:
        cdt.close()
