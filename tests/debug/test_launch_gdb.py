"""C++'s configurations for every build of VS Code: gdb's own adapter, and Eclipse's.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: what our extension does around gdb's adapter (test_extension.py).
"""

from __future__ import annotations

import os
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
    PRODUCT_LINE,
    PROGRAM,
    ROOT,
    PythonSession,
    configuration,
    drives,
    look_around,
    quick,
)

CDT = ROOT / "build" / "npm" / "node_modules" / "cdt-gdb-adapter" / "dist" / "debugAdapter.js"


@pytest.fixture
def python_session() -> Iterator[PythonSession]:
    """Stopped on the line of the product."""
    session = PythonSession("Python: current file", {PROGRAM: [PRODUCT_LINE]})
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


@drives("C++: attach (gdb)")
def test_gdb_as_a_second_session(python_session: PythonSession) -> None:
    own = configuration("C++: attach (gdb)", **{"command:pickProcess": python_session.pid})
    gdb = start_gdb(own)
    try:
        attach(gdb, int(own["pid"]))
        python_session.go_on()
        look_around(gdb, gdb.event("stopped"))
        detach(gdb)
        python_session.finish()
    finally:
        gdb.close()


@drives("C++: attach to a Jupyter kernel (gdb)")
def test_gdb_attaches_to_a_running_kernel() -> None:
    notebook = Notebook(ROOT / "tests" / "debug", {"REFTORCH_ALLOW_PTRACE": "1"})
    own = configuration("C++: attach to a Jupyter kernel (gdb)", **{"command:pickKernel": notebook.pid})
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


@drives("C++: current file (gdb)")
def test_gdb_starts_the_current_file() -> None:
    run_to_the_end("C++: current file (gdb)", PROGRAM)


@drives("C++: current test (gdb)")
def test_gdb_starts_the_current_test(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(Path(PROGRAM).read_text())  # its stack is the one that is looked for
    test = tmp_path / "test_it.py"
    test.write_text("import runpy\n\n\ndef test_it():\n    runpy.run_path(__file__.replace('test_it', 'program'))\n")
    run_to_the_end("C++: current test (gdb)", str(test))


def test_a_call_into_the_process_is_no_stop_and_outdates_nothing() -> None:
    """Told of a stop the editor would ask for everything again; by an expression in WATCH, for ever."""
    own = quick(configuration("C++: current file (gdb)", file=PROGRAM))
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


@drives("C++: attach (cdt-gdb)")
@pytest.mark.skipif(shutil.which("node") is None, reason="needs node, to run cdt-gdb-adapter")
@pytest.mark.skipif(not CDT.exists(), reason="needs cdt-gdb-adapter: make test-adapters (npm)")
def test_cdt_gdb_adapter_as_a_second_session(python_session: PythonSession) -> None:
    own = configuration("C++: attach (cdt-gdb)", **{"command:askProcessId": python_session.pid})
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
