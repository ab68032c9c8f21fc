"""The learner's package: passed answers become its modules, an edited module stays, what is missing comes when asked.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from course._tools import mytorch
from course._tools.cli import main
from course._tools.exercises import find_exercise, solution
from course._tools.layout import CHECKING, CourseError
from course._tools.mytorch import OURS, YOURS, Part, put, put_passed, states, use_mytorch
from course._tools.runner import kernel

DOUBLE = Part("double", "07.1", "twice a number")


@pytest.fixture
def package(toy, monkeypatch) -> Path:
    """The folder of the package, which has one part of the toy chapter."""
    monkeypatch.setattr(mytorch, "PARTS", (DOUBLE,))
    monkeypatch.setattr(sys, "path", list(sys.path))
    return mytorch.folder()


def test_a_passed_answer_is_a_module_that_can_be_imported(package):
    said = put_passed("07.1", ["def double(x):\n    return x + x"])
    assert said == [f"your answer is {package / 'double.py'} now, a part of your package"]
    use_mytorch("double")
    assert importlib.import_module("mytorch.double").double(4) == 8
    assert list(states()) == [(DOUBLE, YOURS)]


def test_an_exercise_that_is_no_part_changes_nothing(package):
    assert put_passed("07.2", ["def answer():\n    return 42"]) == []
    assert not package.exists()


def test_the_same_answer_again_says_nothing_and_a_new_one_replaces_it(package):
    put_passed("07.1", ["def double(x):\n    return x + x"])
    assert put_passed("07.1", ["def double(x):\n    return x + x"]) == []
    assert put_passed("07.1", ["def double(x):\n    return 2 * x"])
    assert "2 * x" in (package / "double.py").read_text()


def test_a_module_that_the_learner_has_edited_stays_and_the_answer_is_kept_beside_it(package):
    put_passed("07.1", ["def double(x):\n    return x + x"])
    mine = package / "double.py"
    mine.write_text("# my own\n")
    said = put_passed("07.1", ["def double(x):\n    return 2 * x"])
    assert mine.read_text() == "# my own\n"
    assert "2 * x" in (package / "double_passed.py").read_text()
    assert said == [f"you have edited {mine}, and it is as you left it; what passed is double_passed.py beside it"]
    assert list(states()) == [(DOUBLE, f"{YOURS}, edited")]


def test_a_module_that_the_learner_has_written_is_not_overwritten_either(package):
    package.mkdir(parents=True)
    (package / "double.py").write_text("# my own\n")
    put(DOUBLE, "def double(x):\n    return 2 * x")
    assert (package / "double.py").read_text() == "# my own\n"
    assert list(states()) == [(DOUBLE, YOURS)]


def test_a_record_that_cannot_be_read_protects_every_module(package):
    put_passed("07.1", ["def double(x):\n    return x + x"])
    (package / mytorch.GIVEN).write_text("{")
    put_passed("07.1", ["def double(x):\n    return 2 * x"])
    assert "x + x" in (package / "double.py").read_text()


def test_what_is_missing_is_an_error_that_says_what_to_do_and_comes_when_it_is_asked_for(package):
    with pytest.raises(CourseError, match=r"lacks double \(exercise 07.1\); `reftorch-course mytorch --solutions`"):
        use_mytorch("double")
    assert repr(use_mytorch("double", fill=True)) == "mytorch.double    07.1  the course's  twice a number"
    assert list(states()) == [(DOUBLE, OURS)]


def test_ones_own_answer_takes_the_place_of_the_courses(package):
    use_mytorch(fill=True)
    put_passed("07.1", ["def double(x):\n    return x + x"])
    assert list(states()) == [(DOUBLE, YOURS)]


def test_names_of_other_cells_are_told(package):
    said = put(DOUBLE, "def double(x):\n    return helper(x)")
    assert said[0].startswith(f"{package / 'double.py'} uses `helper`, which other cells of your notebook make")


def test_a_module_has_the_imports_and_the_given_functions_that_its_answer_needs(toy, package, monkeypatch):
    source = toy.solved.read_text()
    given = '# %% exercise="07.1" role="given"\ndef twice(x):\n    return operator.mul(2, x)\n\n\nunused = 3\n'
    source = source.replace("from course._tools", "import math, operator\n\nfrom course._tools", 1)
    place = '# %% exercise="07.1" role="answer"'
    toy.solved.write_text(source.replace(place, given + place, 1))
    assert put(DOUBLE, "def double(x):\n    return twice(x)") == []
    text = (package / "double.py").read_text()
    assert text.split("\n\n\n") == [
        '"""Twice a number: exercise 07.1, your answer."""\n\nimport operator',
        "def twice(x):\n    return operator.mul(2, x)",
        "def double(x):\n    return twice(x)\n",
    ]


def test_the_command_that_checks_a_chapter_collects_what_has_passed(package, toy, answer, capsys):
    main(["start", "07"])
    answer("07.1", "def double(x):\n    return x + x")
    main(["check", "07"])
    assert f"your answer is {package / 'double.py'} now" in capsys.readouterr().out
    assert "x + x" in (package / "double.py").read_text()


def test_the_command_shows_the_parts_and_takes_solutions_only_when_it_is_told_to(package, capsys):
    assert main(["mytorch"]) == 0
    said = capsys.readouterr().out
    assert "mytorch.double    07.1  missing" in said
    assert "`reftorch-course mytorch --solutions`" in said
    assert main(["mytorch", "--solutions"]) == 0
    assert "the course's" in capsys.readouterr().out
    assert "2 * x" in (package / "double.py").read_text()


IN_A_NOTEBOOK = """
from course._tools import layout, mytorch
from pathlib import Path
layout.COURSE = Path({course!r})
mytorch.PARTS = (mytorch.Part("double", "07.1", "twice a number"),)
"""


@pytest.mark.parametrize("checking", ["", "1"])
def test_the_check_in_the_learners_notebook_takes_the_cell_that_passed(package, toy, checking):
    main(["start", "07"])
    with kernel(toy.working_copy, **{CHECKING: checking}) as running:
        running.run(IN_A_NOTEBOOK.format(course=str(toy.folder.parent)))
        running.run("def double(x):\n    return 3 * x")
        running.run("def double(x):\n    return x + x  # the one that passes")
        running.run("from course._tools import check")
        outputs = running.run(find_exercise("07.1")[1].check.source)
    assert (package / "double.py").exists() is not bool(checking)
    if not checking:
        assert "the one that passes" in (package / "double.py").read_text()
        assert "a part of your package" in str(outputs)


def test_every_part_of_the_course_is_a_module_that_imports(monkeypatch, tmp_path):
    """In a process of its own, because the modules would stay imported in this one."""
    monkeypatch.setenv("REFTORCH_COURSE_WORK", str(tmp_path))
    names = [part.module for part in mytorch.parts()]
    program = (
        "import importlib\nfrom course._tools import use_mytorch\n"
        f"print(use_mytorch(fill=True))\nfor name in {names}:\n    importlib.import_module('mytorch.' + name)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.splitlines()) == len(names) >= 9
    for part in mytorch.parts():
        kept = solution(find_exercise(part.exercise)[1].answers[0].source).strip("\n")
        assert kept in (tmp_path / "mytorch" / f"{part.module}.py").read_text()
    assert json.loads((tmp_path / "mytorch" / mytorch.GIVEN).read_text()).keys() == {f"{name}.py" for name in names}
