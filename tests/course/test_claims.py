"""What a lesson or a debrief says without a cell that shows it.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import io
import re

import pytest

import reftorch as torch
from course._tools.exercises import find_exercise
from course._tools.layout import COURSE
from course._tools.notebook import read
from course._tools.real_torch import ask


def prose_of(lesson: str) -> str:
    """The text of a lesson, with one space between two words."""
    cells = read(COURSE / lesson / "lesson.ipynb")["cells"]
    return re.sub(r"\s+", " ", " ".join(cell["source"] for cell in cells if cell["cell_type"] == "markdown"))


KINDS = ("complex64", "uint16", "float8", "sparse")


def saved_by(library, kind: str) -> io.BytesIO:
    tensors = {
        "complex64": lambda: library.zeros(2, dtype=library.complex64),
        "uint16": lambda: library.zeros(2, dtype=library.uint16),
        "float8": lambda: library.zeros(2).to(library.float8_e4m3fn),
        "sparse": lambda: library.eye(2).to_sparse(),
        "bfloat16": lambda: library.ones(2, dtype=library.bfloat16),
    }
    stream = io.BytesIO()
    library.save(tensors[kind](), stream)
    stream.seek(0)
    return stream


@pytest.mark.parametrize("kind", KINDS)
def test_lesson_11_names_the_files_of_torch_that_are_refused(kind, real_torch):
    assert "This one has no tensors of complex64, uint16 or float8 and no sparse tensors" in prose_of("11_sharing")
    with pytest.raises(Exception, match="Weights only load failed"):
        torch.load(saved_by(real_torch, kind))
    assert torch.load(saved_by(real_torch, "bfloat16")).tolist() == [1.0, 1.0]


MOMENTUM = """
import copy

import torch


def moved(prepare):
    def new():
        weight = torch.nn.Parameter(torch.zeros(1))
        return weight, torch.optim.SGD([weight], lr=0.1, momentum=0.5)

    weight, optimizer = new()
    weight.grad = torch.ones(1)
    optimizer.step()
    saved = optimizer.state_dict()
    for _ in range(2):
        weight, optimizer = new()
        optimizer.load_state_dict(prepare(saved))
        weight.grad = torch.zeros(1)
        optimizer.step()
        yield round(weight.item(), 4)


print(*moved(lambda saved: saved), *moved(copy.deepcopy))
"""


def test_the_debrief_of_exercise_09_7_is_right_in_both_libraries(real_torch):
    """How far two models move, one after the other, by the momentum of one checkpoint; then, by copies of it."""
    assert "-0.025 and not by -0.05" in find_exercise("09.7")[1].debrief
    answer = ask(MOMENTUM, beside=True)
    assert answer.ours is not None
    assert answer.ours.printed == answer.outcome.printed == "-0.05 -0.025 -0.05 -0.05\n"


def test_exercise_11_5_speaks_of_whole_models_since_a_state_dict_of_copies_does_no_harm():
    assert "saves whole models (`torch.save(model)`)" in find_exercise("11.5")[1].cells["task"][0].source

    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 2, bias=False)
            self.last.weight = self.first.weight

    model = Tied()
    model.load_state_dict({name: weight + 1 for name, weight in model.state_dict().items()})
    assert model.first.weight is model.last.weight


A_TEXT_IN_THE_STATE = """
import torch

w = torch.nn.Parameter(torch.zeros(1))
saved, loaded = (torch.optim.SGD([w], lr=0.1) for _ in range(2))
saved.state[w]["mode"] = "warm"
loaded.load_state_dict(saved.state_dict())
print(loaded.state[w]["mode"].split()[0])
"""


def test_the_debrief_of_exercise_16_6_names_a_fault_of_torch_that_is_not_here(real_torch):
    assert 'is loaded as `"<generator object ...>"`' in re.sub(r"\s+", " ", find_exercise("16.6")[1].debrief)
    answer = ask(A_TEXT_IN_THE_STATE, beside=True)
    assert answer.ours is not None
    assert (answer.ours.printed, answer.outcome.printed) == ("warm\n", "<generator\n")
