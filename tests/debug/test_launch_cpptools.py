"""C++'s configurations for Microsoft's build: what cpptools sends to gdb for them is replayed.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: cpptools itself, which runs only in Microsoft's editor.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from reftorch.debug.core.find_gdb import gdb_environment
from tests.debug.launch import (
    GDBS,
    KERNEL,
    KERNEL_LINE,
    PRODUCT_LINE,
    PROGRAM,
    SELF,
    STACK,
    PythonSession,
    configuration,
    drives,
)
from tests.debug.mi import Mi


def set_up(path: str, own: dict[str, Any]) -> Mi:
    """gdb as cpptools starts it, after its setupCommands."""
    gdb = Mi([path, "--interpreter=mi", *own["miDebuggerArgs"].split()], gdb_environment())
    for setup in own["setupCommands"]:
        answer = gdb(setup["text"])[-1]
        assert answer.startswith("^done") or setup.get("ignoreFailures"), answer
    gdb(f"-file-exec-and-symbols {own['program']}")
    return gdb


def launch(gdb: Mi, own: dict[str, Any]) -> None:
    """-exec-run as cpptools does, with a breakpoint in mul_kernel."""
    gdb(f"-environment-cd {own['cwd']}")
    for variable in own["environment"]:
        gdb(f"-gdb-set env {variable['name']} {variable['value']}")
    gdb("-exec-arguments " + " ".join(f'"{argument}"' for argument in own["args"]))
    assert gdb(f"-break-insert -f {KERNEL}:{KERNEL_LINE}")[-1].startswith("^done")
    gdb("-exec-run")


def look_around(gdb: Mi) -> None:
    """The place, one stack of both languages, a tensor's text, a step."""
    stop = gdb("", until=("*stopped",))[-1]
    assert 'reason="breakpoint-hit"' in stop
    assert f'fullname="{KERNEL}"' in stop
    assert f'line="{KERNEL_LINE}"' in stop
    assert re.search(STACK, "".join(gdb('-interpreter-exec console "rt-bt"')))
    level = re.search(r'level="(\d+)"[^}]*BinaryOps.cpp"', "".join(gdb("-stack-list-frames 0 20")))
    assert level is not None
    gdb(f"-stack-select-frame {level[1]}")
    assert SELF in gdb("-var-create - * self")[-1]
    gdb("-exec-step", until=("*stopped",))
    gdb("-break-delete")


def run_to_the_end(path: str, name: str, file: str) -> None:
    own = configuration(name, file=file)
    gdb = set_up(path, own)
    try:
        launch(gdb, own)
        look_around(gdb)
        gdb("-exec-continue")
        assert 'reason="exited-normally"' in gdb("", until=("*stopped",))[-1]
    finally:
        assert gdb.close() == 0


@drives("C++ only: attach to a running process (cpptools)")
@pytest.mark.parametrize("path", GDBS)
def test_attach(path: str) -> None:
    """On the process of `Python only: this file`."""
    python = PythonSession("Python only: this file", {PROGRAM: [PRODUCT_LINE]})
    try:
        cpp = configuration("C++ only: attach to a running process (cpptools)", **{"command:pickProcess": python.pid})
        gdb = set_up(path, cpp)
        try:
            gdb(f"-target-attach {cpp['processId']}", until=("*stopped", "^error"))
            assert gdb(f"-break-insert -f {KERNEL}:{KERNEL_LINE}")[-1].startswith("^done")
            gdb("-exec-continue")
            python.go_on()
            look_around(gdb)
            gdb("-target-detach")
            python.finish()
        finally:
            assert gdb.close() == 0
    finally:
        python.close()


@drives("C++ only: this file (cpptools)")
@pytest.mark.parametrize("path", GDBS)
def test_current_file(path: str) -> None:
    run_to_the_end(path, "C++ only: this file (cpptools)", PROGRAM)


@drives("C++ only: this test (cpptools)")
def test_current_test(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(Path(PROGRAM).read_text())  # its stack is the one that is looked for
    test = tmp_path / "test_it.py"
    test.write_text("import runpy\n\n\ndef test_it():\n    runpy.run_path(__file__.replace('test_it', 'program'))\n")
    own = configuration("C++ only: this test (cpptools)")
    run_to_the_end(own["miDebuggerPath"], "C++ only: this test (cpptools)", str(test))
