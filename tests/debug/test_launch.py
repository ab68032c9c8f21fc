"""The committed .vscode files, driven as an editor would, without one.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: Microsoft's cpptools, which runs only in Microsoft's editor; what it sends to gdb is replayed instead.

Each test reads a configuration from launch.json, puts in what the editor would, and runs what it names.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reftorch.debug._find_gdb import candidates, gdb_environment, probe
from tests.debug.dap import Dap
from tests.debug.mi import Mi

ROOT = Path(__file__).resolve().parents[2]
VSCODE = ROOT / ".vscode"
PROGRAM = str(Path(__file__).with_name("program.py"))
PRODUCT_LINE = 1 + Path(PROGRAM).read_text().split("\n").index("    return a * b")
KERNEL = ROOT / "cpp" / "ATen" / "native" / "cpu" / "BinaryOpsKernel.cpp"
OPERATOR = ROOT / "cpp" / "ATen" / "native" / "BinaryOps.cpp"
SELF = "Tensor f32[2, 2] strides=[2, 1] [1, 2, 3, 4]"
GDBS = [path for path in candidates() if not isinstance(probe(path), str)]

LAUNCH = json.loads((VSCODE / "launch.json").read_text())
CONFIGURATIONS = {each["name"]: each for each in LAUNCH["configurations"]}


def resolved(value: Any, **variables: Any) -> Any:
    """A configuration with the editor's ${variables} replaced."""
    known = {"workspaceFolder": str(ROOT), "file": PROGRAM, **variables}
    if isinstance(value, str):
        value = value.replace("${workspaceFolder}/.venv/bin/python", sys.executable)
        value = value.replace("${workspaceFolder}/.venv/bin", str(Path(sys.executable).parent))
        return re.sub(r"\$\{([^}]+)\}", lambda match: str(known[match[1]]), value)
    if isinstance(value, list):
        return [resolved(each, **variables) for each in value]
    if isinstance(value, dict):
        return {name: resolved(each, **variables) for name, each in value.items()}
    return value


def configuration(name: str, **variables: Any) -> dict[str, Any]:
    return resolved(CONFIGURATIONS[name], **variables)


def kernel_line() -> int:
    """The first line of mul_kernel's body."""
    lines = KERNEL.read_text().split("\n")
    return 2 + next(i for i, text in enumerate(lines) if text.startswith("void mul_kernel("))


class PythonSession:
    """`Python: current file`, as far as its first stop."""

    def __init__(self, name: str, breakpoints: dict[str, list[int]], **variables: Any) -> None:
        arguments = configuration(name, **variables)
        arguments.pop("preLaunchTask")
        arguments["console"] = "internalConsole"  # an integrated terminal is the editor's own
        arguments["python"] = [arguments["python"], *arguments.pop("pythonArgs")]
        self.dap = Dap([sys.executable, "-Xfrozen_modules=off", "-m", "debugpy.adapter"])
        try:
            self.dap.begin("launch", arguments, breakpoints)
            self.pid = self.dap.event("process")["systemProcessId"]
            self.thread = self.dap.event("stopped", 120)["threadId"]  # pytest under a tracer starts slowly
        except BaseException:
            self.dap.close()
            raise

    def continue_(self) -> int:
        return self.dap.post("continue", threadId=self.thread)

    def finish(self) -> None:
        """To the end of the program; asserts that it ended by itself and well."""
        assert self.dap.event("exited")["exitCode"] == 0
        self.dap.event("terminated")


@pytest.fixture
def python_session() -> Iterator[PythonSession]:
    """Stopped on the line of the product."""
    session = PythonSession("Python: current file", {PROGRAM: [PRODUCT_LINE]})
    try:
        yield session
    finally:
        session.dap.close()


def test_every_configuration_is_known_here() -> None:
    assert set(CONFIGURATIONS) == {
        "Python: current file",
        "Python: current test",
        "Python + C++: current file",
        "C++: attach (cpptools)",
        "C++: attach (gdb)",
    }


def test_references_between_the_files_hold() -> None:
    labels = {task["label"] for task in json.loads((VSCODE / "tasks.json").read_text())["tasks"]}
    inputs = {each["id"] for each in LAUNCH["inputs"]}
    for each in CONFIGURATIONS.values():
        assert each.get("preLaunchTask", "build Debug") in labels
        assert set(re.findall(r"\$\{input:(\w+)\}", json.dumps(each))) <= inputs
    both = CONFIGURATIONS["Python + C++: current file"]
    assert CONFIGURATIONS[both["pythonLaunchName"]]["type"] == "debugpy"
    assert CONFIGURATIONS[both["cppAttachName"]]["type"] == "cppdbg"
    extension = json.loads((VSCODE / "extensions" / "reftorch-gdb" / "package.json").read_text())
    own = CONFIGURATIONS["C++: attach (gdb)"]
    (debugger,) = extension["contributes"]["debuggers"]
    assert debugger["type"] == own["type"]
    assert set(debugger["configurationAttributes"]["attach"]["required"]) <= set(own)
    for name in ("settings.json", "extensions.json"):
        assert json.loads((VSCODE / name).read_text())


def test_tasks_are_targets_of_the_makefile() -> None:
    for task in json.loads((VSCODE / "tasks.json").read_text())["tasks"]:
        program, target = task["command"].split()
        assert program == "make"
        done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
        assert "No rule to make target" not in done.stderr


def test_python_stops_in_the_program_and_in_a_formula(python_session: PythonSession) -> None:
    dap = python_session.dap
    frame, caller = dap.frames(python_session.thread, 2)
    assert (frame["source"]["path"], frame["line"], frame["name"]) == (PROGRAM, PRODUCT_LINE, "product")
    assert caller["name"] == "<module>"
    assert "[[1., 2.]" in dap.evaluate("a", frame["id"])
    path, line = mul_formula()
    dap.ask("setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": line}])
    python_session.continue_()
    stopped = dap.event("stopped")
    frame = dap.frames(stopped["threadId"], 1)[0]
    assert (frame["source"]["path"], frame["line"]) == (str(path), line)
    dap.ask("continue", threadId=stopped["threadId"])
    python_session.finish()


def mul_formula() -> tuple[Path, int]:
    """Where the formula of mul begins: the line of its first lambda."""
    path = ROOT / "reftorch" / "autograd" / "derivatives" / "binary.py"
    lines = path.read_text().split("\n")
    return path, 2 + next(i for i, text in enumerate(lines) if text == '    "mul.Tensor",')


def test_python_current_test_runs_pytest(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text("import reftorch as torch\n\n\ndef test_it():\n    assert torch.ones(2).sum().item() == 2.0\n")
    session = PythonSession("Python: current test", {str(test): [5]}, file=str(test))
    try:
        frame = session.dap.frames(session.thread, 1)[0]
        assert (frame["source"]["path"], frame["name"]) == (str(test), "test_it")
        session.continue_()
        session.finish()
    finally:
        session.dap.close()


def test_gdb_as_a_second_session(python_session: PythonSession) -> None:
    """`C++: attach (gdb)`: what the extension starts, on the process that debugpy stopped."""
    own = configuration("C++: attach (gdb)", **{"input:pid": python_session.pid})
    gdb = Dap([own["gdb"], *own["gdbArgs"]], env=gdb_environment())
    line = kernel_line()
    try:
        gdb.begin("attach", {"pid": int(own["pid"])}, {str(KERNEL): [line]})
        gdb.event("stopped")
        gdb.ask("continue", threadId=1)
        python_session.continue_()
        thread = gdb.event("stopped")["threadId"]
        frames = gdb.frames(thread, 20)
        assert (frames[0]["source"]["path"], frames[0]["line"]) == (str(KERNEL), line)
        assert "mul_kernel" in frames[0]["name"]
        operator = next(frame for frame in frames if frame.get("source", {}).get("path") == str(OPERATOR))
        assert SELF in gdb.evaluate("self", operator["id"])
        stack = gdb.evaluate("rt-bt", frames[0]["id"], "repl")
        assert re.search(r"c\+\+ .*native::mul_kernel\n(.*\n)*.*py .*program.py:\d+ +product\n", stack)
        assert gdb.step("next", thread)["line"] > line
        into = gdb.step("stepIn", thread)
        assert str(ROOT / "cpp") in into["source"]["path"]
        gdb.ask("setBreakpoints", source={"path": str(KERNEL)}, breakpoints=[])
        gdb.ask("disconnect", terminateDebuggee=False)
        python_session.finish()
        assert gdb.process.wait(20) == 0
    finally:
        gdb.close()


@pytest.mark.parametrize("path", GDBS)
def test_cpptools_conversation(path: str, python_session: PythonSession) -> None:
    """`C++: attach (cpptools)`: its setupCommands, then what cpptools sends to attach and to stop."""
    cpp = configuration("C++: attach (cpptools)", **{"command:pickProcess": python_session.pid})
    gdb = Mi([path, "--interpreter=mi", *cpp["miDebuggerArgs"].split()], gdb_environment())
    line = kernel_line()
    try:
        for setup in cpp["setupCommands"]:
            answer = gdb(setup["text"])[-1]
            assert answer.startswith("^done") or setup.get("ignoreFailures"), answer
        gdb(f"-file-exec-and-symbols {cpp['program']}")
        gdb(f"-target-attach {cpp['processId']}", until=("*stopped", "^error"))
        assert gdb(f"-break-insert -f {KERNEL}:{line}")[-1].startswith("^done")
        gdb("-exec-continue")
        python_session.continue_()
        stop = gdb("", until=("*stopped",))[-1]
        assert 'reason="breakpoint-hit"' in stop
        assert f'fullname="{KERNEL}"' in stop
        assert f'line="{line}"' in stop
        stack = "".join(gdb('-interpreter-exec console "rt-bt"'))
        assert re.search(r"c\+\+ .*native::mul_kernel.*py .*program.py:\d+ +product", stack)
        level = re.search(r'level="(\d+)"[^}]*BinaryOps.cpp"', "".join(gdb("-stack-list-frames 0 20")))
        assert level is not None
        gdb(f"-stack-select-frame {level[1]}")
        assert SELF in gdb("-var-create - * self")[-1]
        gdb("-exec-step", until=("*stopped",))
        gdb("-break-delete")
        gdb("-target-detach")
        python_session.finish()
    finally:
        assert gdb.close() == 0
