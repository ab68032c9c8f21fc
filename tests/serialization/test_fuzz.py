"""Some seconds of the program that loads files that were changed at random.

Mirrors: nothing in PyTorch, whose ``load`` is not tested in this way.
"""

import random
import subprocess
import sys
from pathlib import Path

import pytest

import reftorch
from tests.serialization import fuzz

ROOT = Path(__file__).resolve().parents[2]


def test_some_files() -> None:
    command = [sys.executable, "-m", "tests.serialization.fuzz", "--seconds", "4", "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 findings" in done.stdout and "UnpicklingError" in done.stdout and "loaded" in done.stdout, done.stdout


def test_the_program_finds_what_it_looks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rule, broken on purpose: the loader runs the pickle, or raises an error of its own."""
    path = tmp_path / "file"
    data = fuzz._whole_files()[0]
    assert fuzz.check_file(data, fuzz._written(path, data)) == "loaded"
    damaged = data[:-30]
    assert fuzz.check_file(damaged, fuzz._written(path, damaged)) == "RuntimeError"

    for error, words in ((KeyError("x"), "KeyError"), (MemoryError(), "MemoryError"), (ValueError("x"), "in words")):

        def load(*args: object, error: Exception = error, **kwargs: object) -> None:
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(reftorch, "load", load)
            with pytest.raises(fuzz.Findings, match=words):
                fuzz.check_file(b"", path)

    def changes(*args: object, **kwargs: object) -> None:
        reftorch._utils._rebuild_tensor.note = 1  # type: ignore[attr-defined]

    with monkeypatch.context() as patch:
        patch.setattr(reftorch, "load", changes)
        with pytest.raises(fuzz.Findings, match="changed a class or a function"):
            fuzz.check_file(b"", path)
    del reftorch._utils._rebuild_tensor.note  # type: ignore[attr-defined]


def test_the_watch_sees_what_a_pickle_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "_watching", True)
    fuzz._events.clear()
    fuzz._audit("open", ("/etc/passwd", "r", 0))
    assert fuzz._events == []
    fuzz._audit("open", ("/tmp/x", "wb", 0))
    fuzz._audit("os.system", ("true",))
    assert len(fuzz._events) == 2


def test_the_files_differ_and_are_the_same_again() -> None:
    whole = fuzz._whole_files()
    drawn = [[fuzz.drawn_file(draw, whole) for _ in range(50)] for draw in (random.Random(1), random.Random(1))]
    assert drawn[0] == drawn[1] and len(set(drawn[0])) > 40
