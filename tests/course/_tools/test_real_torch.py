"""A cell runs in torch where torch is, and shows what is stored where torch is not; a line says which.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import re

import pytest

from course._tools import build, real_torch
from course._tools.real_torch import NoTorch, ask, in_reftorch, key_of, keys_in, stored_in, write_store

CELL = "import torch\ntorch.arange(6.0).reshape(2, 3).t().stride()"
KEPT = {"printed": "(1, 3)\n", "error": "", "version": "2.13.0"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The folder of a notebook."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def without_torch(monkeypatch):
    monkeypatch.setenv("REFTORCH_COMPARE", "0")


def test_without_torch_the_stored_output_is_shown_and_said_to_be_stored(folder, without_torch):
    write_store(folder, {key_of("", CELL): KEPT})
    answer = ask(CELL)
    assert answer.stored
    assert repr(answer).startswith(
        "(1, 3)\n(stored: torch is not installed here, and this is what torch 2.13.0 printed"
    )
    assert ">make torch</code>" in answer._repr_mimebundle_()["text/html"]  # set as code, without backquotes


def test_without_torch_a_cell_of_the_learners_own_says_what_to_do(without_torch):
    with pytest.raises(NoTorch, match="In a terminal, `make torch` installs it"):
        ask(CELL)


def test_with_torch_the_cell_runs_in_it(folder, real_torch):
    answer = ask(CELL)
    assert (answer.outcome.printed, answer.stored) == ("(1, 3)\n", False)
    assert repr(answer) == f"(1, 3)\n\n(torch {answer.version} ran this just now)".replace("\n\n", "\n")
    assert stored_in(folder) == {}


def test_the_builder_keeps_what_torch_prints(folder, real_torch, monkeypatch):
    monkeypatch.setenv(build.real_torch.STORING, "1")
    answer = ask(CELL)
    assert stored_in(folder) == {key_of("", CELL): {"printed": "(1, 3)\n", "error": "", "version": answer.version}}


def test_an_error_of_torch_is_what_the_cell_shows(real_torch):
    answer = ask("import torch\ntorch.arange(6.0).reshape(2, 3).t().view(6)")
    assert answer.outcome.error.startswith("RuntimeError: view size is not compatible")


def test_reftorch_and_torch_side_by_side(real_torch):
    answer = ask(CELL, beside=True)
    assert answer.ours is not None
    assert answer.ours.printed == answer.outcome.printed
    assert repr(answer).startswith("reftorch\n    (1, 3)\ntorch\n    (1, 3)\n(torch ")


def test_a_variable_of_the_environment_and_a_long_output(real_torch):
    answer = ask("import os\nprint(os.environ['A'])\nfor i in range(9): print(i)", environment={"A": "b"}, lines=3)
    assert answer.outcome.printed == "b\n0\n1\n... 7 more lines\n"


def test_side_by_side_reftorch_takes_torchs_place():
    cell = "import torch\nimport torch.nn as nn\nfrom torch.nn import Linear\nx = torch.ones(1)  # import torch"
    assert in_reftorch(cell).splitlines() == [
        "import reftorch as torch",
        "import reftorch.nn as nn",
        "from reftorch.nn import Linear",
        "x = torch.ones(1)  # import torch",
    ]


def test_a_cell_is_known_by_its_text_and_its_options():
    sources = ["%%real_torch\n1", "%%real_torch --lines 3\n1", "%%rebuild a\n1", "1"]
    assert keys_in(sources) == {key_of("", "1\n"), key_of("--lines 3", "1")}
    assert len(keys_in(sources)) == 2


def test_nbval_does_not_care_which_of_the_two_came():
    (pattern,) = (each for each in build._patterns(look=True) if each[1] == "(REAL TORCH)")
    for stored in (True, False):
        answer = real_torch.Answer(real_torch.Outcome("1\n"), "2.13.0", stored)
        assert re.sub(*pattern, repr(answer)) == "1\n(REAL TORCH)"


def test_gdb_stops_in_torch_without_its_lines(real_torch):
    commands = ["break at::_ops::add_Tensor::call", "run", "info symbol $pc", "info locals", "kill"]
    answer = ask("import torch\ntorch.ones(2) + 1", gdb=commands, timeout=170)
    assert "at::_ops::add_Tensor::call(at::Tensor const&" in answer.outcome.printed
    assert "No symbol table info available." in answer.outcome.printed
    assert "site-packages" not in answer.outcome.printed
