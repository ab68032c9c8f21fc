"""The instrumented copies of kernels: the folder stays small, and what a process has loaded stays.

Mirrors: nothing in PyTorch, which keeps no such copies.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reftorch.debug.kernels import instrument, kept_libraries

ROOT = Path(__file__).resolve().parents[3]
HOLD = """
import pathlib, runpy, sys
hold = runpy.run_path(sys.argv[1])["take"]
assert hold(pathlib.Path(sys.argv[2])) and not hold(pathlib.Path(sys.argv[2] + "_"))
print("held", flush=True)
sys.stdin.read()
"""


def copies(folder: Path) -> list[str]:
    return sorted(path.name.removeprefix("watched_").removesuffix(".so") for path in folder.glob("watched_*.so"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three copies of 10 bytes, `a` the oldest, and place for two."""
    monkeypatch.setattr(kept_libraries, "MOST_BYTES", 20)
    for second, name in enumerate("abc"):
        library = tmp_path / f"watched_{name}.so"
        library.write_bytes(bytes(10))
        os.utime(library, (second, second))
    (tmp_path / "mine.so").write_bytes(bytes(100))
    return tmp_path


def new(folder: Path, name: str) -> None:
    (folder / "unfinished").write_bytes(bytes(10))
    kept_libraries.put(folder / "unfinished", folder / f"watched_{name}.so")


def test_a_new_copy_takes_the_place_of_those_that_were_used_longest_ago(folder: Path) -> None:
    new(folder, "d")
    assert copies(folder) == ["c", "d"]
    assert (folder / "mine.so").exists()


def test_a_copy_that_is_used_again_is_not_old(folder: Path) -> None:
    program = [sys.executable, "-c", HOLD, str(kept_libraries.__file__), str(folder / "watched_a.so")]
    subprocess.run(program, stdin=subprocess.DEVNULL, check=True)  # which ends: it holds nothing any more
    new(folder, "d")
    assert copies(folder) == ["a", "d"]


def test_a_copy_that_a_living_process_has_loaded_stays(folder: Path) -> None:
    program = [sys.executable, "-c", HOLD, str(kept_libraries.__file__), str(folder / "watched_a.so")]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        os.utime(folder / "watched_a.so", (0, 0))
        new(folder, "d")
        assert copies(folder) == ["a", "d"]
        new(folder, "e")
        assert copies(folder) == ["a", "d", "e"]  # all are in use: `d` and `e` by this process
        other.kill()
    new(folder, "f")
    assert copies(folder) == ["d", "e", "f"]


def test_who_wants_a_copy_waits_for_who_removes_some(folder: Path) -> None:
    program = [sys.executable, "-c", HOLD, str(kept_libraries.__file__), str(folder / "watched_a.so")]
    with kept_libraries.alone(folder):
        other = subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        waits = False
        while not waits and other.poll() is None:
            time.sleep(0.02)
            waits = re.search(rf"-> FLOCK .* {other.pid} ", Path("/proc/locks").read_text()) is not None
        (folder / "watched_a.so").unlink()
    said, error = other.communicate(timeout=60)
    assert waits and said == b"" and b"AssertionError" in error  # it is told that there is none, and would compile one


def test_the_watcher_puts_its_copies_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def compiled(unit: str, flags: list[str], library: Path) -> Path:
        library.with_suffix(".1").touch()
        return library.with_suffix(".1")

    monkeypatch.setenv("REFTORCH_EXTENSIONS_DIR", str(tmp_path))
    monkeypatch.setattr(instrument, "_compile", compiled)
    library = instrument._compiled(ROOT / "cpp/ATen/native/cuda/SortingKernel.cu")
    assert library.exists() and len(copies(tmp_path)) == 1
    monkeypatch.setattr(instrument, "_compile", None)
    assert instrument._compiled(ROOT / "cpp/ATen/native/cuda/SortingKernel.cu") == library
