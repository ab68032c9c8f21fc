"""The learner's commands on a toy chapter: what they say, what they return, and that they never destroy work.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from course._tools import runner
from course._tools.checks import CheckFailed, check
from course._tools.cli import main
from course._tools.layout import ROOT, shown
from course._tools.notebook import as_text, new_cell, read
from course._tools.runner import kernel


def test_list_names_the_chapters(toy, capsys):
    assert main(["list"]) == 0
    said = capsys.readouterr().out
    assert "07_toy" in said
    assert "A toy" in said
    assert "not started" in said


def test_start_copies_what_the_learner_needs_and_no_solution(toy, capsys):
    (toy.folder / "picture.svg").write_text("<svg/>")
    assert main(["start", "7"]) == 0
    copied = sorted(file.name for file in toy.working_copy.rglob("*"))
    assert copied == [".given.json", "07_exercises.ipynb", "07_toy.ipynb", "picture.svg"]
    assert "2 * x" not in toy.my_exercises.read_text()
    assert str(toy.working_copy) in capsys.readouterr().out


def test_start_again_changes_nothing_and_says_how_to_start_anew(toy, capsys):
    main(["start", "07"])
    toy.my_exercises.write_text("my work")
    assert main(["start", "07"]) == 0
    assert toy.my_exercises.read_text() == "my work"
    assert "as you left it; `reftorch-course reset 07` starts again" in capsys.readouterr().out


def test_check_tells_of_each_exercise_what_came_and_what_was_expected(toy, answer, capsys):
    main(["start", "toy"])
    answer("07.1", "def double(x):\n    return x * x")
    assert main(["check", "toy"]) == 1
    said = capsys.readouterr().out
    assert "07.1  failed   double(4)" in said
    assert "came:     16" in said
    assert "expected: 8" in said
    assert "07.2  not done the answer" in said
    assert "0 of 2 passed" in said
    assert "reftorch-course hint 07.1" in said


def test_check_passes_what_is_solved_and_status_remembers_it(toy, answer, capsys):
    main(["start", "07"])
    answer("07.1", "def double(x):\n    return x + x")
    answer("07.2", "def answer():\n    return 42")
    assert main(["check", "07"]) == 0
    assert main(["status"]) == 0
    said = capsys.readouterr().out
    assert "2 of 2 passed" in said
    assert "2 of 2" in said.split("last checked")[1]


def test_check_leaves_the_notebook_as_it_is(toy, answer):
    main(["start", "07"])
    answer("07.1", "def double(x):\n    return x + x")
    before = toy.my_exercises.read_bytes()
    main(["check", "07"])
    assert toy.my_exercises.read_bytes() == before


@pytest.mark.parametrize("saves", [False, True])
def test_check_says_what_has_passed_in_the_notebook_and_is_not_saved(toy, answer, monkeypatch, capsys, saves):
    main(["start", "07"])
    monkeypatch.chdir(toy.working_copy)
    for number, came in (("07.1", 8), ("07.2", 41)):
        with suppress(CheckFailed), check(number, "as a cell of the notebook does it") as c:
            c.equal("what came", came=came, expected={"07.1": 8, "07.2": 42}[number])
    if saves:
        answer("07.2", "# saved, and 07.1 not solved in the file")
    capsys.readouterr()
    assert main(["check", "07"]) == 1
    said = capsys.readouterr().out
    assert ("07.1 passed in your notebook after it was saved last: save the notebook" in said) is not saves


def test_a_check_elsewhere_notes_nothing(toy, monkeypatch):
    main(["start", "07"])
    for folder, checking in ((toy.folder, ""), (toy.working_copy, "1")):
        monkeypatch.chdir(folder)
        monkeypatch.setenv("REFTORCH_COURSE_CHECKING", checking)
        with check("07.1", "double a number") as c:
            c.equal("double(4)", came=8, expected=8)
    assert not (toy.working_copy / "progress.json").exists()


def test_check_asks_to_start_first(toy, capsys):
    assert main(["check", "07"]) == 2
    assert "reftorch-course start 07" in capsys.readouterr().err


@pytest.mark.parametrize("content", [None, "not a notebook"])
def test_check_says_what_to_do_where_the_notebook_is_gone_or_broken(toy, capsys, content):
    main(["start", "07"])
    toy.my_exercises.unlink() if content is None else toy.my_exercises.write_text(content)
    assert main(["check", "07"]) == 2
    assert "07_exercises.ipynb" in capsys.readouterr().err


def test_hints_come_one_by_one(toy, capsys):
    main(["start", "07"])
    capsys.readouterr()
    assert main(["hint", "07.1"]) == 0
    first = capsys.readouterr().out
    assert "Hint 1 of 2" in first
    assert "Hint 2" not in first
    main(["hint", "07.1"])
    second = capsys.readouterr().out
    assert "Hint 2 of 2" in second
    assert "reftorch-course solution 07.1" in second
    main(["hint", "07.1"])
    assert capsys.readouterr().out == second


def test_all_hints_at_once_need_no_working_copy(toy, capsys):
    assert main(["hint", "07.1", "--all"]) == 0
    assert "Hint 2 of 2" in capsys.readouterr().out


def test_solution_shows_the_code_without_its_marks(toy, capsys):
    assert main(["solution", "7.1"]) == 0
    said = capsys.readouterr().out
    assert "return 2 * x" in said
    assert "SOLUTION" not in said


def test_reset_keeps_a_backup_each_time(toy, answer, capsys):
    main(["start", "07"])
    for attempt in ("# first", "# second"):
        answer("07.1", attempt)
        assert main(["reset", "07"]) == 0
    backups = sorted((toy.working_copy.parent / "_backups").iterdir())
    assert len(backups) == 2
    assert "# first" in (backups[0] / "07_exercises.ipynb").read_text()
    assert "# second" in (backups[1] / "07_exercises.ipynb").read_text()
    assert read(toy.my_exercises)["cells"] == read(toy.exercises)["cells"]
    assert str(backups[1]) in capsys.readouterr().out


def test_reset_asks_to_start_first(toy, capsys):
    assert main(["reset", "07"]) == 2
    assert "reftorch-course start 07" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["start", "99"], ["hint", "07.9"], ["hint", "nothing"], ["solution", "7"]])
def test_an_unknown_chapter_or_exercise_is_answered_with_those_there_are(toy, words, capsys):
    assert main(words) == 2
    assert "07" in capsys.readouterr().err


def test_progress_is_kept_in_the_working_copy(toy, answer):
    main(["start", "07"])
    answer("07.1", "def double(x):\n    return x + x")
    main(["check", "07"])
    progress = json.loads((toy.working_copy / "progress.json").read_text())
    assert progress["results"] == {"07.1": "passed", "07.2": "not done"}


def test_build_tells_what_changed_and_look_changes_nothing(toy, capsys):
    toy.exercises.write_text("{}")
    assert main(["build", "07", "--check"]) == 1
    assert "exercises.ipynb: not up to date" in capsys.readouterr().out
    assert toy.exercises.read_text() == "{}"
    assert main(["build", "07"]) == 0
    assert "exercises.ipynb: changed" in capsys.readouterr().out
    assert main(["build", "07", "--check"]) == 0


def test_the_module_runs_as_a_program():
    done = subprocess.run([sys.executable, "-m", "course._tools", "list"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "03_operator" in done.stdout


def test_check_runs_from_inside_a_notebook(toy, answer, monkeypatch):
    monkeypatch.setattr(runner, "CELL_TIMEOUT", 1800)  # two kernels start, and others may compute here
    main(["start", "07"])
    answer("07.1", "def double(x):\n    return x + x")
    cell = f"""
from pathlib import Path
from course._tools import course, layout

layout.COURSE = Path({str(toy.folder.parent)!r})
course("check 07")
"""
    with kernel(toy.folder) as running:
        outputs = running.run(cell)
    (output,) = outputs  # one for each line would be set far apart
    assert "1 of 2 passed" in output["data"]["text/plain"]
    assert """`course("hint 07.2")`""" in output["data"]["text/plain"]  # not the command of a shell


def test_a_notebook_cell_runs_the_same_commands(toy, capsys):
    from course._tools.magics import course

    course("start 07")
    assert toy.working_copy.exists()
    course("no-such-command")
    assert "no-such-command" in capsys.readouterr().err


def test_what_no_command_can_do_is_answered_with_all_commands(toy, capsys):
    assert main([]) == 2
    assert "COMMAND" in capsys.readouterr().out


def test_a_copy_that_cannot_be_made_leaves_nothing_half_made(toy, monkeypatch, capsys):
    def interrupted(*arguments, **options):
        raise OSError("No space left on device")

    monkeypatch.setattr("course._tools.copies._as_given", interrupted)
    assert main(["start", "07"]) == 2
    assert "No space left" in capsys.readouterr().err
    assert not toy.working_copy.exists()
    assert not list(toy.working_copy.parent.iterdir())


@pytest.mark.parametrize("content", ["", "{", "[1]"])
def test_progress_that_cannot_be_read_is_as_none_and_noted_anew(toy, answer, capsys, content):
    main(["start", "07"])
    answer("07.1", "def double(x):\n    return x + x")
    (toy.working_copy / "progress.json").write_text(content)
    assert main(["status"]) == 0
    assert "never" in capsys.readouterr().out
    main(["check", "07"])
    assert "passed" in (toy.working_copy / "progress.json").read_text()


def test_what_came_and_the_hint_are_told_where_progress_cannot_be_kept(toy, monkeypatch, capsys):
    main(["start", "07"])

    def refused(self, *arguments):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refused)
    for words, told in ((["check", "07"], "0 of 2 passed"), (["hint", "07.1"], "Hint 1 of 2")):
        capsys.readouterr()
        assert main(words) == 2
        said = capsys.readouterr()
        assert told in said.out
        assert "progress.json cannot be written (Permission denied)" in said.err


def test_links_stored_in_a_lesson_lead_from_the_copy_to_the_same_place(toy):
    lesson = read(toy.lesson)
    html = '<a href="../../cpp/x.cpp#line=3">x</a> <a href="https://example.org/y">y</a> <a href="lesson.ipynb">z</a>'
    output = {"output_type": "display_data", "data": {"text/html": html}, "metadata": {}}
    lesson["cells"].append(
        new_cell("markdown", "[w](../index.ipynb), [v](lesson.ipynb), [u](made_by_the_lesson.txt)", "markdown-links")
    )
    lesson["cells"].append({**new_cell("code", "", "links"), "outputs": [output], "execution_count": 1})
    toy.lesson.write_text(as_text(lesson))
    main(["start", "07"])
    copied = read(toy.my_lesson)["cells"][-1]["outputs"][0]["data"]["text/html"]
    target = os.path.relpath(toy.folder.parents[1] / "cpp/x.cpp", toy.working_copy)
    assert f'href="{target}#line=3"' in copied
    assert 'href="https://example.org/y"' in copied
    assert 'href="07_toy.ipynb"' in copied
    markdown = read(toy.my_lesson)["cells"][-2]["source"]
    assert markdown == "[w](../index.ipynb), [v](07_toy.ipynb), [u](made_by_the_lesson.txt)"


def test_a_copy_is_as_jupyterlab_leaves_it_and_not_marked_as_changed(toy):
    main(["start", "07"])
    for file in (toy.my_lesson, toy.my_exercises):
        metadata = read(file)["metadata"]
        assert metadata["kernelspec"]["display_name"] in (ROOT / "Makefile").read_text()
        assert metadata["language_info"]["version"] == platform.python_version()


def test_a_hint_of_a_chapter_that_is_not_started_says_why_it_is_always_the_first(toy, capsys):
    for _ in range(2):
        assert main(["hint", "07.1"]) == 0
        said = capsys.readouterr().out
        assert "Hint 1 of 2" in said
        assert "reftorch-course start 07" in said


def test_paths_are_whole_where_the_learner_is_outside_of_the_checkout(tmp_path, monkeypatch):
    assert shown(ROOT / "course") == "course"
    monkeypatch.chdir(tmp_path)
    assert shown(ROOT / "course") == str(ROOT / "course")
