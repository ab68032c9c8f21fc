"""The native half: the Python stack without Python's symbols, leave to attach, the sentinel.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: what a debugger does with them; see test_printers.py.
"""

from __future__ import annotations

import functools
import platform
import signal
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import reftorch as torch
from reftorch.debug.common.native import stale_library

DEBUG = torch._C._debug


def stack() -> list[tuple[str, str, int]]:
    """(file, name, line) by the library, innermost first."""
    frames = [line.split("\t") for line in DEBUG.py_stack().splitlines()]
    assert {entry[0] for entry, *_ in frames} <= {"E", "-"}
    assert frames[-1][0].startswith("E"), "the outermost frame was called from C"
    return [(file, name.rpartition(".")[2], int(line)) for _, file, line, name in frames]


def test_py_stack_is_python_s_own() -> None:
    found = stack()[1:]
    expected = [(f.filename, f.name, f.lineno) for f in reversed(traceback.extract_stack())]
    assert [frame[:2] for frame in found] == [frame[:2] for frame in expected]
    assert found[1:] == expected[1:]  # this function's own line has moved on


def test_py_stack_through_a_generator_and_a_comprehension() -> None:
    def nämen() -> object:
        yield stack()

    ((_, *frames),) = [list(each) for each in nämen()]
    assert frames[0][1] == "nämen"


def test_py_stack_marks_entries_from_c() -> None:
    def called() -> str:
        return DEBUG.py_stack()

    text = functools.reduce(lambda _, each: called() if each else "", [0, 1])
    frames = [line.split("\t") for line in text.splitlines()]
    inlined = "-" if sys.version_info >= (3, 11) else "E"  # since 3.11 a Python call needs no C call
    assert [frame[0][0] for frame in frames[:2]] == [inlined, "E"]
    has_address = sys.version_info >= (3, 12)  # of the marker that lies on the C stack
    assert [len(frame[0]) > 1 for frame in frames[:2]] == [False, has_address]
    assert frames[1][3].endswith("<lambda>"), "reduce calls the lambda from C"


def test_sentinel_returns() -> None:
    assert DEBUG.sentinel() is None


def test_leave_to_attach_is_taken_only_when_asked() -> None:
    """Yama may be absent; then there is nothing to allow and the call says so."""
    assert DEBUG.allow_ptrace(0) in (True, False)
    for value in ("0", "1"):
        command = [sys.executable, "-c", "import reftorch; print('up')"]
        done = subprocess.run(
            command, env={"REFTORCH_ALLOW_PTRACE": value}, capture_output=True, text=True, check=True,
            cwd=Path(__file__).parents[2],
        )  # fmt: skip
        assert done.stdout == "up\n"


def test_a_replaced_library_is_noticed(tmp_path: Path) -> None:
    library = Path(torch._C.__file__)
    assert not stale_library(str(library))
    code = (
        "import ctypes, os, sys, shutil\n"
        "from reftorch.debug.common.native import stale_library\n"
        "path = sys.argv[1]\n"
        "ctypes.CDLL(path)\n"
        "fresh = stale_library(path)\n"
        "shutil.copy(path, path + '.new'); os.replace(path + '.new', path)\n"
        "print(fresh, stale_library(path))\n"
    )
    copy = tmp_path / "lib.so"
    libm = next(line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "/libm.so" in line)
    copy.write_bytes(Path(libm).read_bytes())
    done = subprocess.run([sys.executable, "-c", code, str(copy)], capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"


GUARDED = """
import sys
from pathlib import Path
import reftorch
debug, library = reftorch._C._debug, str(Path(reftorch._C.__file__).resolve())

def write(address, code):
    with open("/proc/self/mem", "r+b", buffering=0) as memory:
        memory.seek(address)
        before = memory.read(1)
        memory.seek(address)
        memory.write(code)
    return before

import ctypes
sentinel = ctypes.CDLL(library).reftorch_debug_sentinel
address = ctypes.cast(sentinel, ctypes.c_void_p).value
if "guard" in sys.argv:
    debug.guard_breakpoints(True)
before = write(address, b"\\xcc")
if "mend" in sys.argv:
    assert debug.mend_breakpoints() == 1
    assert debug.mend_breakpoints() == 0
sentinel()
assert write(address, before) == before
print("went on", flush=True)
if "after" in sys.argv:
    debug.guard_breakpoints(False)
    write(address, b"\\xcc")
    sentinel()
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the breakpoint that is written is one of x86-64")
@pytest.mark.parametrize(
    ("arguments", "code", "printed"),
    [
        (["guard"], 0, "went on\n"),
        (["mend"], 0, "went on\n"),
        ([], -signal.SIGTRAP, ""),
        (["guard", "after"], -signal.SIGTRAP, "went on\n"),
    ],
)
def test_a_breakpoint_that_was_left_behind_is_mended(arguments: list[str], code: int, printed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", GUARDED, *arguments], capture_output=True, text=True, check=False,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (code, printed), done.stderr
