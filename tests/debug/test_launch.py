"""The committed .vscode files: complete, consistent, and Python's configurations driven as an editor would.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: C++'s configurations (test_launch_gdb.py, test_launch_cpptools.py) and both at once (test_extension.py).

Each test of those files that is marked `@drives(NAME)` reads that configuration from launch.json, puts in what the
editor would, and runs what it names.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.debug.dap import PATIENCE, Connected, Dap
from tests.debug.kernel import Notebook, state_of, tracer_of
from tests.debug.launch import (
    CELL,
    CONFIGURATIONS,
    EXTENSION,
    LAUNCH,
    OFFERED,
    PROCESSES,
    PRODUCT_LINE,
    PROGRAM,
    ROOT,
    VSCODE,
    PythonSession,
    drives,
    follow_children,
    line_of,
    python_arguments,
    resolved,
    write_notebook,
)

BROADCAST = "    return _VF.broadcast_tensors(_one_list(tensors))"

# What cannot be driven here, and why.
NOT_DRIVEN = {
    "CUDA: this file (cuda-gdb)": "needs a CUDA build, which reftorch does not have yet; it differs from "
    "`C++ only: this file` in nothing but the name of the gdb",
}


def test_every_configuration_is_driven_or_has_a_reason() -> None:
    driven = set()
    for path in Path(__file__).parent.glob("test_*.py"):
        driven |= set(re.findall(r'^@drives\("(.*)"\)$', path.read_text(), re.M))
    assert driven | set(NOT_DRIVEN) == set(CONFIGURATIONS)
    assert not driven & set(NOT_DRIVEN)


def test_references_between_the_files_hold() -> None:
    tasks = json.loads((VSCODE / "tasks.json").read_text())["tasks"]
    labels = {task["label"] for task in tasks}
    assert all(task.get("dependsOn", "build Debug") in labels for task in tasks)
    extension = json.loads((EXTENSION / "package.json").read_text())
    ours = {debugger["type"]: debugger for debugger in extension["contributes"]["debuggers"]}
    for each in CONFIGURATIONS.values():
        # The editor runs a `preLaunchTask` before it looks for the debugger. Ours is added when nothing is missing.
        task, other = ("build", "preLaunchTask") if each["type"] in ours else ("preLaunchTask", "build")
        assert (each["request"] == "launch") == (task in each)
        assert each.get(task, "build Debug") in labels
        assert other not in each
        for path in re.findall(r"\$\{workspaceFolder\}/([\w./]+)", json.dumps(each)):
            assert path.startswith((".venv/", "build/")) or (ROOT / path).exists(), path
        if each["type"] in ours:
            debugger = ours[each["type"]]
            attributes = debugger["configurationAttributes"][each["request"]]
            assert set(attributes["required"]) <= set(each)
            own = {"name", "type", "request", "presentation"}
            assert set(each) - own <= set(attributes["properties"])
            assert set(re.findall(r"\$\{command:(\w+)\}", json.dumps(each))) <= set(debugger["variables"])
    for name in ("settings.json", "extensions.json"):
        assert json.loads((VSCODE / name).read_text())


def test_few_configurations_are_listed_and_need_our_extension_alone() -> None:
    assert len(LAUNCH) <= 6
    assert {each["type"] for each in LAUNCH} <= {"reftorch", "reftorch-gdb"}
    names = [each["name"] for each in (*LAUNCH, *OFFERED)]
    assert len(set(names)) == len(names)


def test_tasks_are_targets_of_the_makefile() -> None:
    for task in json.loads((VSCODE / "tasks.json").read_text())["tasks"]:
        program, target, *_ = shlex.split(task["command"])
        assert program == "make"
        done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
        assert "No rule to make target" not in done.stderr


@drives("Python only: this file")
def test_python_stops_in_the_program_and_in_a_formula() -> None:
    dap = PythonSession("Python only: this file", {PROGRAM: [PRODUCT_LINE]})
    try:
        frame, caller = dap.frames(dap.thread, 2)
        assert (frame["source"]["path"], frame["line"], frame["name"]) == (PROGRAM, PRODUCT_LINE, "product")
        assert caller["name"] == "<module>"
        assert "[[1., 2.]" in dap.evaluate("a", frame["id"])
        path = str(ROOT / "reftorch" / "autograd" / "derivatives" / "binary_ops.py")
        line = line_of(path, '    "mul.Tensor",', 1)  # where the formula of mul begins
        dap.ask("setBreakpoints", source={"path": path}, breakpoints=[{"line": line}])
        dap.go_on()
        stopped = dap.event("stopped")
        frame = dap.frames(stopped["threadId"], 1)[0]
        assert (frame["source"]["path"], frame["line"]) == (path, line)
        dap.ask("setBreakpoints", source={"path": path}, breakpoints=[])
        dap.ask("continue", threadId=stopped["threadId"])
        dap.finish()
    finally:
        dap.close()


@drives("Python only: this file")
def test_python_follows_children_that_are_forked_and_spawned() -> None:
    line = line_of(PROCESSES, "    return a * b")
    breakpoints = {PROCESSES: [line_of(PROCESSES, "    print("), line]}
    dap = PythonSession("Python only: this file", breakpoints, file=PROCESSES)
    values = []

    def look(child: Connected, stopped: dict[str, Any]) -> None:
        frame = child.frames(stopped["threadId"], 1)[0]
        assert (frame["source"]["path"], frame["line"]) == (PROCESSES, line)
        values.append(child.evaluate("a", frame["id"]))
        child.ask("continue", threadId=stopped["threadId"])

    try:
        dap.go_on()
        follow_children(dap, breakpoints, look)
        assert values == ["tensor([2., 2.])", "tensor([3., 3.])"]
        assert "exit codes 0 0" in dap.printed()
    finally:
        dap.close()


@drives("Python only: this test")
def test_python_current_test_runs_the_selected_one(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text("def test_other():\n    assert False\n\n\ndef test_it():\n    assert 2 + 2 == 4\n")
    chosen = {"file": str(test), "selectedText": "test_it and not test_other"}
    dap = PythonSession("Python only: this test", {str(test): [6]}, **chosen)
    try:
        assert dap.where() == (str(test), 6, "test_it")
        dap.go_on()
        dap.finish()
    finally:
        dap.close()


@drives("Python only: this notebook")
def test_python_stops_in_a_notebooks_companion() -> None:
    """The task before it writes the file."""
    notebook = write_notebook()
    (task,) = (
        each
        for each in json.loads((VSCODE / "tasks.json").read_text())["tasks"]
        if each["label"] == CONFIGURATIONS["Python only: this notebook"]["preLaunchTask"]
    )
    subprocess.run(shlex.split(resolved(task["command"], file=notebook)), cwd=ROOT, check=True, capture_output=True)
    program = python_arguments("Python only: this notebook", file=notebook)["program"]
    line = line_of(program, "a * a")
    dap = PythonSession("Python only: this notebook", {program: [line]}, file=notebook)
    try:
        assert dap.where() == (program, line, "<module>")
        assert dap.evaluate("os.getcwd()", dap.frames(dap.thread, 1)[0]["id"]) == repr(str(notebook.parent))
        dap.go_on()
        dap.finish()
    finally:
        dap.close()


@drives("Python only: attach to a running process")
def test_python_attaches_to_a_running_kernel() -> None:
    notebook = Notebook(ROOT / "tests" / "debug", {"REFTORCH_ALLOW_PTRACE": "1"})
    dap = Dap([sys.executable, "-Xfrozen_modules=off", "-m", "debugpy.adapter"])
    try:
        assert not notebook.run(CELL, timeout=PATIENCE).error
        path = str(ROOT / "reftorch" / "functional" / "shapes.py")
        line = line_of(path, "def broadcast_tensors(")
        line += Path(path).read_text().split("\n")[line:].index(BROADCAST) + 1
        arguments = python_arguments(
            "Python only: attach to a running process", **{"command:pickProcess": notebook.pid}
        )
        dap.begin("attach", arguments, {path: [line]})
        cell = notebook.send("torch.broadcast_tensors(a, b)[0].tolist()")
        stopped = dap.event("stopped")
        frame, _asks_for_overrides, caller = dap.frames(stopped["threadId"], 3)
        assert (frame["source"]["path"], frame["line"], frame["name"]) == (path, line, "broadcast_tensors")
        assert caller["name"] == "<module>"
        dap.ask("disconnect", terminateDebuggee=False)
        assert notebook.result(cell, PATIENCE).text == "[[1.0, 2.0], [3.0, 4.0]]"
        assert tracer_of(notebook.pid) == 0
        assert state_of(notebook.pid) in "SR"
    finally:
        dap.close()
        notebook.close()
