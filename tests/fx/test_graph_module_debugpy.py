"""debugpy steps into generated code, shows its source and stops at breakpoints in it.

Mirrors: nothing in PyTorch: tests of a debugger.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import reftorch
from tests.debug.dap import Dap
from tests.debug.launch import PythonSession

ROOT = Path(__file__).parents[2]

PROGRAM = """
import reftorch as torch

class Net(torch.nn.Module):
    def forward(self, x):
        y = x + 1
        return torch.relu(y)

traced = torch.fx.symbolic_trace(Net())
x = torch.ones(2)
traced(x)
traced(x)
"""
CALL = PROGRAM.split("\n").index("traced(x)") + 1

FOLDER = """
import sys
import reftorch as torch
sys.path.insert(0, {folder!r})
torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(2, 2))).to_folder({folder!r} + "/package", "Net")
from package import Net
Net()(torch.ones(1, 2))
"""


@pytest.fixture
def dap() -> Iterator[Dap]:
    adapter = Dap([sys.executable, "-Xfrozen_modules=off", "-m", "debugpy.adapter"])
    yield adapter
    adapter.close()


def launch(program: Path) -> dict[str, Any]:
    environment = {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    for name in ("REFTORCH_BUILD",):
        if name in os.environ:
            environment[name] = os.environ[name]
    return {
        "program": str(program),
        "console": "internalConsole",
        "justMyCode": False,
        "cwd": str(program.parent),
        "env": environment,
        "python": [sys.executable, "-Xfrozen_modules=off"],
    }


def test_steps_and_breakpoints_in_generated_code(dap: Dap, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    dap.begin("launch", launch(program), {str(program): [CALL]})
    thread = dap.event("stopped")["threadId"]
    frame = dap.frames(thread, 1)[0]
    assert (frame["line"], frame["source"]["path"]) == (CALL, str(program))
    for _ in range(30):
        frame = dap.step("stepIn", thread)
        if "eval_with_key" in frame["source"]["path"]:
            break
    assert frame["name"] == "forward" and f"{program}:5 in forward" in frame["source"]["path"]
    shown = dap.ask("source", source=frame["source"], sourceReference=frame["source"]["sourceReference"])["content"]
    lines = shown.split("\n")
    assert lines[frame["line"] - 1].strip() == "add = x + 1;  x = None"
    frame = dap.step("next", thread)
    assert lines[frame["line"] - 1].strip() == "relu = torch.relu(add);  add = None"
    assert dap.evaluate("add", frame["id"]) == "tensor([2., 2.])"
    set_there = dap.ask("setBreakpoints", source=frame["source"], breakpoints=[{"line": frame["line"]}])["breakpoints"]
    assert [b["verified"] for b in set_there] == [True]
    dap.ask("continue", threadId=thread)
    assert dap.event("stopped")["reason"] == "breakpoint"  # in the second call
    again = dap.frames(thread, 1)[0]
    assert (again["line"], again["source"]["path"]) == (frame["line"], frame["source"]["path"])
    dap.ask("continue", threadId=thread)
    dap.event("terminated")


def test_a_breakpoint_in_a_folder(dap: Dap, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(FOLDER.format(folder=str(tmp_path)))
    module = tmp_path / "package" / "module.py"
    dap.ask("initialize", adapterID="reftorch", clientID="test", linesStartAt1=True, pathFormat="path")
    begun = dap.post("launch", **launch(program))
    dap.event("initialized")
    dap.ask("setFunctionBreakpoints", breakpoints=[{"name": "forward"}])
    dap.ask("configurationDone")
    dap.answer(begun)
    thread = dap.event("stopped")["threadId"]
    frame = dap.frames(thread, 1)[0]
    while frame["source"]["path"] != str(module):
        dap.ask("continue", threadId=thread)
        frame = dap.frames(dap.event("stopped")["threadId"], 1)[0]
    assert module.read_text().split("\n")[frame["line"] - 1].strip() == "def forward(self, input):"
    frame = dap.step("next", thread)
    assert module.read_text().split("\n")[frame["line"] - 1].strip() == "input_1 = input"
    dap.ask("setFunctionBreakpoints", breakpoints=[])
    dap.ask("continue", threadId=thread)
    dap.event("terminated")


def test_the_committed_configuration_stops_in_a_folder(tmp_path: Path) -> None:
    net = reftorch.nn.Sequential(reftorch.nn.Linear(2, 2), reftorch.nn.Linear(2, 2))
    reftorch.fx.symbolic_trace(net).to_folder(tmp_path / "package", "Net")
    module, program = tmp_path / "package" / "module.py", tmp_path / "program.py"
    line = 1 + next(i for i, text in enumerate(module.read_text().split("\n")) if '= getattr(self, "1")' in text)
    program.write_text("import reftorch as torch\nfrom package import Net\nprint(Net()(torch.ones(1, 2)))\n")
    session = PythonSession("Python only: this file", {str(module): [line]}, file=str(program))
    try:
        assert session.where() == (str(module), line, "forward")
        frame = session.frames(session.thread, 1)[0]
        assert session.evaluate("self", frame["id"]).startswith("Net(")
        session.go_on()
        session.finish()
    finally:
        session.close()
