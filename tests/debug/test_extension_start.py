"""What our extension does when F5 is pressed, before anything is built or started.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: VS Code itself; vscode_host.js plays its part. The editor puts in the variables after these steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.debug.host import Host
from tests.debug.launch import CONFIGURATIONS, KERNEL, LAUNCH, OFFERED, PROGRAM, ROOT
from tests.debug.test_extension import needs_node

pytestmark = needs_node
LIBRARY = str(ROOT / "reftorch" / "functional" / "shapes.py")
TEST = str(ROOT / "tests" / "debug" / "test_workers.py")
NOTEBOOK = str(ROOT / "course" / "00_setup" / "lesson.ipynb")


@pytest.fixture
def host() -> Iterator[Host]:
    host = Host()
    try:
        yield host
    finally:
        host.close()


def start(host: Host, name: str, *fronts: str) -> tuple[dict[str, Any] | None, list[str]]:
    """The configuration as F5 hands it on while the last of the files is in front, and what the editor says."""
    for front in fronts:
        host.tell(front=front)
    host.tell(resolve=CONFIGURATIONS[name])
    said: list[str] = []
    while True:
        what = host.said.get(timeout=60)
        assert what is not None
        said += [what[kind] for kind in ("information", "error") if kind in what]
        if "resolved" in what:
            return what["resolved"] or None, said


@pytest.mark.parametrize(
    ("name", "fronts", "expected"),
    [
        ("Debug this file", (PROGRAM,), None),
        ("Debug this file", (PROGRAM, KERNEL), PROGRAM),
        ("Debug this file", (PROGRAM, TEST, KERNEL), PROGRAM),
        ("Debug this file", (PROGRAM, LIBRARY), PROGRAM),
        ("Debug this file", (PROGRAM, NOTEBOOK), PROGRAM),
        ("Debug this file", (PROGRAM, ""), PROGRAM),
        ("Debug this file", (LIBRARY,), None),
        ("Debug this file, which imports torch", (PROGRAM, TEST, KERNEL), PROGRAM),
        ("Debug this test", (PROGRAM, TEST, KERNEL), TEST),
        ("Debug this test", (TEST, PROGRAM), TEST),
        ("Debug this test", (TEST,), None),
        ("C++ only: this file", (PROGRAM, KERNEL), PROGRAM),
        ("Python only: this file", (PROGRAM, KERNEL), PROGRAM),
        ("C++ only: this file (cpptools)", (PROGRAM, KERNEL), PROGRAM),
    ],
)
def test_f5_runs_a_python_program_whatever_is_in_front(
    host: Host, name: str, fronts: tuple[str, ...], expected: str | None
) -> None:
    resolved, said = start(host, name, *fronts)
    assert resolved is not None
    if expected is None:  # the editor itself puts in the file in front
        assert "${file}" in str(resolved) and not said
        return
    assert expected in (resolved.get("program"), *resolved.get("args", ()))
    assert "${" not in str(resolved.get("args"))  # what is selected in C++ is no name of a test
    kind, front = ("test" if "test" in name else "program"), Path(fronts[-1]).name or "no file"
    assert said == [f"reftorch runs {Path(expected).name}, the last Python {kind}, because {front} is in front."]


def test_a_program_that_ran_is_remembered(host: Host, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.touch()
    start(host, "Debug this file", PROGRAM, str(other))
    resolved, _ = start(host, "Debug this file", KERNEL)
    assert resolved is not None and resolved["program"] == str(other)
    other.unlink()
    assert start(host, "Debug this file", KERNEL)[0] is None  # a program that is gone is not run


@pytest.mark.parametrize(
    ("name", "front", "text"),
    [
        ("Debug this file", KERNEL, "BinaryOpsKernel.cpp is in front, and no Python program was open yet"),
        ("Debug this file", "", "no file is in front, and no Python program was open yet"),
        ("Debug this test", KERNEL, "BinaryOpsKernel.cpp is in front, and no Python test was open yet"),
        (
            "Debug this notebook",
            PROGRAM,
            "*Debug this notebook* runs the notebook in front, and program.py is in front",
        ),
    ],
)
def test_f5_says_why_nothing_can_run(host: Host, name: str, front: str, text: str) -> None:
    resolved, said = start(host, name, front)
    assert resolved is None
    assert [text in each for each in said] == [True]


@pytest.mark.parametrize("name", [each["name"] for each in LAUNCH])
def test_the_build_comes_last(host: Host, name: str) -> None:
    resolved, said = start(host, name, NOTEBOOK if "notebook" in name else TEST if "test" in name else PROGRAM)
    assert not said
    assert resolved is not None and resolved.get("preLaunchTask") == CONFIGURATIONS[name].get("build")


@pytest.mark.parametrize(
    ("name", "change", "text"),
    [
        ("Debug this file", {"python": "/nowhere/.venv/bin/python"}, "There is no /nowhere/.venv/bin/python.*make lab"),
        ("Debug this file", {"python": "/bin/false"}, "/bin/false has no debugpy.*make lab"),
        ("Attach to a running process", {"python": "/bin/false"}, "/bin/false has no debugpy.*make lab"),
        ("C++ only: this file", {"gdb": "/nowhere/gdb"}, "No gdb of version 14.*/nowhere/gdb is not there.*make lab"),
        ("C++ only: attach to a running process", {"gdb": "/bin/true"}, "No gdb of version 14.*does not start"),
        ("CUDA: this file (cuda-gdb)", {}, "No gdb of version 14.*cuda-gdb is not there"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_built(
    host: Host, name: str, change: dict[str, Any], text: str
) -> None:
    host.tell(front=PROGRAM)
    host.tell(resolve=CONFIGURATIONS[name] | change)
    assert re.search(text, host.wait_for("error"))
    assert host.wait_for("resolved") is False


def test_configurations_are_offered_where_their_debugger_is(host: Host) -> None:
    def offered(*types: str) -> set[str]:
        host.tell(offered=types)
        return set(host.wait_for("offered"))

    def names(*types: str) -> set[str]:
        return {each["name"] for each in OFFERED if each["type"] in types and each.get("gdb") != "cuda-gdb"}

    assert offered() == names("reftorch", "reftorch-gdb")
    assert offered("cppdbg") == names("reftorch", "reftorch-gdb", "cppdbg")
    assert offered("debugpy", "gdb", "node") == names("reftorch", "reftorch-gdb", "debugpy", "gdb")
    assert {each["type"] for each in OFFERED} == {"reftorch", "reftorch-gdb", "debugpy", "gdb", "cppdbg"}
