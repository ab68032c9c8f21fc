"""How a learner's notebook is judged, whatever has become of it.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import pytest

from course._tools import runner
from course._tools.exercises import learners_notebook
from course._tools.notebook import new_cell, new_notebook
from course._tools.runner import check_notebook


def states(toy, notebook):
    return {result.exercise: result.state for result in check_notebook(toy, notebook, toy.folder)}


def cell_of(notebook, number, role):
    mark = {"exercise": number, "role": role}
    (cell,) = (c for c in notebook["cells"] if c["metadata"].get("reftorch") == mark)
    return cell


def test_stubs_are_not_done_and_solutions_pass(toy):
    assert states(toy, learners_notebook(toy)) == {"07.1": "not done", "07.2": "not done"}
    assert states(toy, learners_notebook(toy, solved=True)) == {"07.1": "passed", "07.2": "passed"}


def test_an_edited_check_does_not_decide(toy):
    notebook = learners_notebook(toy)
    cell_of(notebook, "07.1", "check")["source"] = "print('passed')"
    assert states(toy, notebook)["07.1"] == "not done"


def test_a_deleted_check_is_run_all_the_same(toy):
    notebook = learners_notebook(toy, solved=True)
    notebook["cells"].remove(cell_of(notebook, "07.1", "check"))
    assert states(toy, notebook) == {"07.1": "passed", "07.2": "passed"}


def test_a_syntax_error_in_one_answer_leaves_the_others_alone(toy):
    notebook = learners_notebook(toy, solved=True)
    cell_of(notebook, "07.1", "answer")["source"] = "def double(x) return x"
    first, second = check_notebook(toy, notebook, toy.folder)
    assert (first.state, second.state) == ("failed", "passed")
    # That is what the learner can mend; that the name is unknown in the check only follows from it.
    assert "SyntaxError" in first.came
    assert "the cell of your answer" in first.came


def test_a_crash_is_told_with_its_cell(toy):
    notebook = learners_notebook(toy, solved=True)
    cell_of(notebook, "07.1", "answer")["source"] = "import os; os.kill(os.getpid(), 11)"
    first, second = check_notebook(toy, notebook, toy.folder)
    assert first.state == second.state == "failed"
    assert "the kernel ended" in first.came
    assert "os.kill" in first.came


def test_a_cell_that_never_ends_is_stopped_and_told(toy, monkeypatch):
    monkeypatch.setattr(runner, "CELL_TIMEOUT", 3)
    notebook = new_notebook([new_cell("code", "while True:\n    pass", "endless")])
    for result in check_notebook(toy, notebook, toy.folder):
        assert result.state == "failed"
        assert "longer than 3 s" in result.came
        assert "while True:" in result.came


@pytest.mark.parametrize("command", ["check 07", "reset 07", "hint 07.1"])
def test_a_cell_that_calls_the_commands_does_nothing_when_the_notebook_is_checked(toy, command):
    """They are advised in every notebook, and saved with it: a check would begin another check, and so on."""
    call = f"""
from pathlib import Path
from course._tools import course, layout

layout.COURSE = Path({str(toy.folder.parent)!r})
course("start 07")
course({command!r})
"""
    notebook = learners_notebook(toy, solved=True)
    notebook["cells"].append(new_cell("code", call, "call"))
    assert states(toy, notebook) == {"07.1": "passed", "07.2": "passed"}
    assert not toy.working_copy.exists()


def test_a_notebook_without_metadata_is_judged_by_the_chapters_checks(toy):
    notebook = new_notebook([new_cell("code", "from course._tools import check", "setup")])
    assert states(toy, notebook) == {"07.1": "failed", "07.2": "failed"}
