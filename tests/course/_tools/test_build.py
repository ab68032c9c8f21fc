"""Building: lessons are run, outputs are stored, and what differs is told cell by cell.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import nbformat
import pytest

from course._tools.cli import main
from course._tools.notebook import as_text, new_cell, new_notebook


@pytest.fixture
def lesson(toy):
    """Write the toy's lesson: `lesson(source, ...)`, a code cell for each source."""

    def write(*sources: str, **metadata) -> None:
        cells = [new_cell("markdown", "# 07 A toy", "title")]
        cells += [new_cell("code", source, f"cell-{i}", **metadata) for i, source in enumerate(sources)]
        toy.lesson.write_text(as_text(new_notebook(cells)))

    return write


def outputs(toy) -> list[str]:
    cells = nbformat.read(toy.lesson, as_version=4).cells[1:]
    return ["".join(o.get("text", "") + o.get("data", {}).get("text/plain", "") for o in c.outputs) for c in cells]


def test_a_lesson_is_run_once_and_then_up_to_date(toy, lesson, capsys):
    lesson("x = 6", "print(x * 7)", "import os\nos.environ['REFTORCH_COURSE_WORK'] != 'mine'")
    assert main(["build", "07"]) == 0
    said = capsys.readouterr().out
    assert "lesson.ipynb: changed" in said
    assert "cell 2: print(x * 7)" in said
    assert outputs(toy) == ["", "42\n", "True"]
    before = toy.lesson.read_bytes()
    assert main(["build", "07"]) == 0
    assert "lesson.ipynb: up to date" in capsys.readouterr().out
    assert toy.lesson.read_bytes() == before


def test_what_differs_from_run_to_run_is_no_change(toy, lesson, capsys):
    lesson("object()", "import os\nprint(f'stop at engine.cpp:{os.getpid()}')")
    main(["build", "07"])
    capsys.readouterr()
    assert main(["build", "07", "--check"]) == 0
    assert "lesson.ipynb: up to date" in capsys.readouterr().out


def test_a_cell_whose_output_is_not_compared_only_needs_one(toy, lesson):
    lesson("import os\nos.getpid()", tags=["nbval-ignore-output"])
    assert main(["build", "07", "--check"]) == 1
    assert main(["build", "07"]) == 0
    assert main(["build", "07", "--check"]) == 0


def test_a_cell_that_raises_is_told_and_nothing_is_written(toy, lesson, capsys):
    lesson("1 / 0")
    before = toy.lesson.read_bytes()
    assert main(["build", "07"]) == 2
    assert "a cell raised ZeroDivisionError: division by zero\n\n1 / 0" in capsys.readouterr().err
    assert toy.lesson.read_bytes() == before


def test_what_is_stored_validates(toy, lesson):
    lesson("print('stored')")
    main(["build", "07"])
    for file in (toy.lesson, toy.exercises):
        nbformat.validate(nbformat.read(file, as_version=4))
