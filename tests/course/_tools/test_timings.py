"""How long the same work takes in each library that is here.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import reftorch
from course._tools import timings
from course._tools.real_torch import find_torch


def test_each_build_that_is_there_is_measured_and_so_is_torch_and_more_work_takes_longer():
    once = timings.milliseconds_of_each_build("a[:10] + 1")
    often = timings.milliseconds_of_each_build("[(a + a).sum() for _ in range(5)]")
    loaded = Path(reftorch._C.__file__).parent.name
    assert f"{loaded} build" in once
    assert (find_torch() is not None) == any(name.startswith("PyTorch") for name in once)
    assert all(0 < once[name] < often[name] < 60_000 for name in once)
    assert set(often) == set(once)


def test_a_line_that_raises_is_an_error(monkeypatch):
    monkeypatch.setattr(timings, "find_torch", lambda: None)
    with pytest.raises(subprocess.CalledProcessError):
        timings.milliseconds_of_each_build("no_such_name")


def test_a_build_that_does_not_import_is_left_out_and_told(monkeypatch, tmp_path, capsys):
    for name in timings.BUILDS:
        library = tmp_path / "reftorch" / "lib" / name / "_C.abi3.so"
        library.parent.mkdir(parents=True)
        library.touch()
    monkeypatch.setattr(timings, "ROOT", tmp_path)
    monkeypatch.setattr(timings, "find_torch", lambda: None)
    assert "    sys.exit(75)" in timings.MEASURE
    monkeypatch.setattr(timings, "MEASURE", "import sys; sys.exit(75)")
    with pytest.raises(subprocess.CalledProcessError):  # the build in use must import
        timings.milliseconds_of_each_build("a + a")
    capsys.readouterr()
    loaded = Path(reftorch._C.__file__).parent.name
    monkeypatch.setattr(timings, "BUILDS", [name for name in timings.BUILDS if name != loaded])
    assert timings.milliseconds_of_each_build("a + a") == {}
    assert "is older than the library and is left out" in capsys.readouterr().out
