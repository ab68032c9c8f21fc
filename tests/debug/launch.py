"""The committed configurations as an editor reads them, and what the tests of them share.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: the editor's tasks: the tests run on a build that is there.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from reftorch.debug.core.find_gdb import candidates, probe
from tests.debug.dap import PATIENCE, Connected, Dap, Session

Test = TypeVar("Test", bound=Callable[..., Any])

ROOT = Path(__file__).resolve().parents[2]
VSCODE = ROOT / ".vscode"
EXTENSION = VSCODE / "extensions" / "reftorch-debug"
PROGRAM = str(Path(__file__).with_name("program.py"))
PROCESSES = str(Path(__file__).with_name("processes.py"))
WORKERS = str(Path(__file__).with_name("workers.py"))
WAITING_WORKERS = str(Path(__file__).with_name("waiting_workers.py"))
KERNEL = str(ROOT / "cpp" / "ATen" / "native" / "cpu" / "BinaryOpsKernel.cpp")
LOOPS = str(ROOT / "cpp" / "ATen" / "native" / "cpu" / "Loops.h")
OPERATOR = str(ROOT / "cpp" / "ATen" / "native" / "BinaryOps.cpp")
SELF = "Tensor f32[2, 2] strides=[2, 1] [1, 2, 3, 4]"
# Both languages on one stack: the kernel, and above it the line of Python that called.
STACK = r"c\+\+ .*native::mul_kernel\b.*py .*program.py:\d+ +product\b"
CELL_STACK = r"c\+\+ .*native::mul_kernel\b.*py .*<cell>:\d+"
CELL = """import reftorch as torch
a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
b = torch.tensor([[2.0, 2.0], [2.0, 2.0]])"""
GDBS = [path for path in candidates() if not isinstance(probe(path), str)]

# What everybody sees, and what our extension offers where another extension is installed, too.
LAUNCH: list[dict[str, Any]] = json.loads((VSCODE / "launch.json").read_text())["configurations"]
OFFERED: list[dict[str, Any]] = json.loads((EXTENSION / "configurations.json").read_text())
CONFIGURATIONS: dict[str, dict[str, Any]] = {each["name"]: each for each in (*LAUNCH, *OFFERED)}


def drives(name: str) -> Callable[[Test], Test]:
    """Marks a test as one that drives the configuration of that name; test_launch.py counts them."""
    assert name in CONFIGURATIONS, f"there is no `{name}`"
    return lambda test: test


def line_of(path: str, text: str, further: int = 0) -> int:
    """The number of the line that begins with `text`, or of one `further` lines below it."""
    lines = Path(path).read_text().split("\n")
    return 1 + further + next(i for i, line in enumerate(lines) if line.startswith(text))


PRODUCT_LINE = line_of(PROGRAM, "    return a * b")
KERNEL_LINE = line_of(KERNEL, "void mul_kernel(", 1)


def resolved(value: Any, **variables: Any) -> Any:
    """A configuration with the editor's ${variables} replaced; `file` and what is given here are known."""
    if isinstance(value, str):
        value = value.replace("${workspaceFolder}/.venv/bin/python", sys.executable)
        value = value.replace("${workspaceFolder}/.venv/bin", str(Path(sys.executable).parent))
        return re.sub(r"\$\{([^}]+)\}", lambda match: str(variable(match[1], variables)), value)
    if isinstance(value, list):
        return [resolved(each, **variables) for each in value]
    if isinstance(value, dict):
        return {name: resolved(each, **variables) for name, each in value.items()}
    return value


def variable(name: str, given: dict[str, Any]) -> Any:
    file = Path(given.get("file", PROGRAM))
    known = {
        "workspaceFolder": ROOT,
        "file": file,
        "fileBasenameNoExtension": file.stem,
        "relativeFileDirname": os.path.relpath(file.parent, ROOT),
        "selectedText": "",
    }
    if name.startswith("env:"):
        return os.environ.get(name[len("env:") :], "")
    # The editor knows the command of a debugger under a short name, and every command under its whole name.
    return (known | given)[name.replace("reftorch-debug.", "")]


def configuration(name: str, **variables: Any) -> dict[str, Any]:
    return resolved(CONFIGURATIONS[name], **variables)


def quick(arguments: dict[str, Any]) -> dict[str, Any]:
    """pytest without the plugins that happen to be installed: under a tracer their import takes many seconds."""
    return arguments | {"env": arguments["env"] | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}}


def python_arguments(name: str, **variables: Any) -> dict[str, Any]:
    """A `debugpy` configuration as Microsoft's Python extension hands it to the adapter."""
    arguments = configuration(name, **variables)
    if arguments.get("module") == "pytest":
        arguments = quick(arguments)
    if arguments["request"] == "launch":
        arguments["console"] = "internalConsole"  # an integrated terminal is the editor's own
        arguments["python"] = [arguments["python"], *arguments.pop("pythonArgs")]
    return arguments


class PythonSession(Dap):
    """A `debugpy` configuration, as far as its first stop."""

    def __init__(self, name: str, breakpoints: dict[str, list[int]], **variables: Any) -> None:
        super().__init__([sys.executable, "-Xfrozen_modules=off", "-m", "debugpy.adapter"])
        try:
            arguments = python_arguments(name, **variables)
            self.begin(arguments["request"], arguments, breakpoints)
            self.pid = self.event("process")["systemProcessId"]
            self.thread = self.event("stopped")["threadId"]
        except BaseException:
            self.close()
            raise

    def where(self) -> tuple[str, int, str]:
        frame = self.frames(self.thread, 1)[0]
        return frame["source"]["path"], frame["line"], frame["name"]

    def go_on(self) -> int:
        return self.post("continue", threadId=self.thread)

    def finish(self) -> None:
        """To the end of the program; asserts that it ended by itself and well."""
        assert self.event("exited")["exitCode"] == 0
        self.event("terminated")


def follow_children(
    root: PythonSession, breakpoints: dict[str, list[int]], at_stop: Callable[[Connected, dict[str, Any]], None]
) -> None:
    """Attach to each process that the program starts, as an editor does, and look at its stops, until the end."""
    children: list[Connected] = []
    end = time.monotonic() + PATIENCE
    try:
        while root.event_or_none("terminated") is None:
            assert time.monotonic() < end, root.printed()
            if attach := root.event_or_none("debugpyAttach"):
                children.append(Connected(attach["connect"]["host"], attach["connect"]["port"]))
                children[-1].begin("attach", attach, breakpoints)
            for child in children:
                if stopped := child.event_or_none("stopped"):
                    at_stop(child, stopped)
            time.sleep(0.05)
    finally:
        for child in children:
            child.close()


def write_notebook() -> Path:
    """A small notebook in the checkout, where companions are made for."""
    cells = ["%load_ext reftorch.debug", "import reftorch as torch\n\na = torch.ones(2)", "%%gdb mul\na * a"]
    notebook = ROOT / "build" / "test-notebooks" / "small.ipynb"
    notebook.parent.mkdir(parents=True, exist_ok=True)
    content = {"cells": [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]}
    notebook.write_text(json.dumps(content))
    return notebook


def look_around(gdb: Session, stopped: dict[str, Any], expected: str = STACK, stack: str = "rt-bt") -> None:
    """At a stop in mul_kernel: the place, a tensor's text, one stack of both languages; a step over and one into."""
    thread = stopped["threadId"]
    frames = gdb.frames(thread, 20)
    assert (frames[0]["source"]["path"], frames[0]["line"]) == (KERNEL, KERNEL_LINE)
    assert "mul_kernel" in frames[0]["name"]
    operator = next(frame for frame in frames if frame.get("source", {}).get("path") == OPERATOR)
    assert SELF in gdb.evaluate("self", operator["id"])
    shown = gdb.evaluate(stack, frames[0]["id"], "repl") + gdb.printed()
    assert re.search(expected, shown, re.S), shown
    assert gdb.step("next", thread)["line"] > KERNEL_LINE
    assert str(ROOT / "cpp") in gdb.step("stepIn", thread)["source"]["path"]
