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
