"""A program stops in PyTorch's own Python; without torch an exercise says what to do, and is not done.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import pytest

from course._tools import check, in_torch, stops_in_torch, write_for_torch
from course._tools.checks import NotDone
from course._tools.real_torch import NoTorch

PROGRAM = """
import sys

import torch

print("the program has written this", file=sys.stderr)
layer = torch.nn.Linear(2, 3)
for rows in (1, 4):
    layer(torch.ones(rows, 2))
"""
PLACE = ("torch/nn/modules/linear.py", "Linear.forward", "return F.linear")


@pytest.fixture
def without_torch(monkeypatch):
    monkeypatch.setenv("REFTORCH_COMPARE", "0")


def test_each_time_before_the_line_runs_the_expressions_are_evaluated(real_torch, monkeypatch):
    stops = stops_in_torch(PROGRAM, *PLACE, ["tuple(input.shape)", "self.in_features"])
    assert stops == [
        {"tuple(input.shape)": "(1, 2)", "self.in_features": "2"},
        {"tuple(input.shape)": "(4, 2)", "self.in_features": "2"},
    ]
    monkeypatch.setattr(in_torch, "run_program", lambda *_, **__: pytest.fail("asked again"))
    assert stops_in_torch(PROGRAM, *PLACE, ["tuple(input.shape)", "self.in_features"]) == stops


def test_a_line_that_is_not_there_and_a_program_that_fails_are_errors(real_torch):
    with pytest.raises(LookupError, match="no line from"):
        stops_in_torch(PROGRAM, *PLACE[:2], "return F.bilinear", [])
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        stops_in_torch("1 / 0", *PLACE, [])


def test_the_command_runs_the_file_that_was_written(real_torch, tmp_path, monkeypatch):
    monkeypatch.setenv("REFTORCH_COURSE_WORK", str(tmp_path / "work"))
    told = write_for_torch(PROGRAM, "in_torch.py")
    assert told.endswith("-m pdb in_torch.py")
    file = tmp_path / "work" / "in_torch.py"
    assert file.read_text() == PROGRAM
    assert write_for_torch(PROGRAM, "in_torch.py") == told
    file.write_text("breakpoint()\n" + PROGRAM)
    assert "in_torch.py has changes of yours and was kept" in write_for_torch(PROGRAM, "in_torch.py")
    assert file.read_text().startswith("breakpoint()")


def test_without_torch_the_exercise_is_not_done_and_says_what_to_do(without_torch, capsys):
    assert "`make torch` installs it" in write_for_torch(PROGRAM, "in_torch.py")
    with pytest.raises(NoTorch, match="make torch"):
        stops_in_torch(PROGRAM, *PLACE, [])
    with pytest.raises(NotDone, match="answered in PyTorch itself"), check("06.9", "how the engine is called") as c:
        c.answers("stops", came={}, truth=dict(enumerate(stops_in_torch(PROGRAM, *PLACE, []))), look="")
    assert "exercise 06.9: not done" in capsys.readouterr().out
