"""The learner's copies: made when they are opened, brought up to date, and never in the way of `git pull`.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from course._tools import copies, layout
from course._tools.cli import main
from course._tools.layout import ROOT, Chapter, chapters
from course._tools.notebook import as_text, new_cell, new_notebook, read


def rewrite(file: Path, *sources: str) -> None:
    """Write the notebook of a toy lesson: a markdown cell for each source."""
    file.write_text(as_text(new_notebook([new_cell("markdown", each, f"c{i}") for i, each in enumerate(sources)])))


def sources(file: Path) -> list[str]:
    return [cell["source"] for cell in read(file)["cells"]]


@pytest.fixture
def started(toy: Chapter) -> Chapter:
    rewrite(toy.lesson, "# 07 A toy", "the question", "the end")
    (toy.folder / "helper.py").write_text("1\n")
    assert copies.bring(copies.of_chapter(toy)) == []
    return toy


def test_the_copy_of_a_file_is_found_by_its_path(toy):
    work = layout.workspace()
    assert copies.around(toy.my_lesson) == copies.around(toy.working_copy) == copies.of_chapter(toy)
    assert copies.around(work / "index.ipynb") == copies.of_pages()
    others = (work, work / "mine.ipynb", toy.working_copy / "notes.md", toy.lesson, work / "_backups")
    assert [copies.around(each) for each in others] == [None] * len(others)


def test_the_courses_notebooks_are_told_from_copies_and_from_other_files(toy):
    assert copies.is_given(toy.lesson)
    assert copies.is_given(layout.COURSE / "index.ipynb")
    others = (toy.my_lesson, toy.solved, toy.folder / "mine.ipynb", layout.COURSE / "Untitled.ipynb")
    assert not any(map(copies.is_given, others))


def test_an_update_reaches_a_copy_and_keeps_the_learners_words(started):
    mine = read(started.my_lesson)
    mine["cells"][1]["source"] = "the question, and my answer"
    started.my_lesson.write_text(as_text(mine))
    rewrite(started.lesson, "# 07 A toy", "the question", "another end")
    assert copies.bring(copies.of_chapter(started)) == []
    assert sources(started.my_lesson) == ["# 07 A toy", "the question, and my answer", "another end"]
    (backup,) = (layout.workspace() / "_backups").iterdir()
    assert sources(backup) == ["# 07 A toy", "the question, and my answer", "the end"]
    before = started.my_lesson.stat().st_mtime_ns
    assert copies.bring(copies.of_chapter(started)) == []
    assert started.my_lesson.stat().st_mtime_ns == before


def test_what_cannot_be_merged_is_said(started, capsys):
    mine = read(started.my_lesson)
    mine["cells"][1]["source"] = "my question"
    started.my_lesson.write_text(as_text(mine))
    rewrite(started.lesson, "# 07 A toy", "their question", "the end")
    assert main(["update"]) == 0
    said = capsys.readouterr().out
    assert "07_toy.ipynb: the course has a new version of a cell that you have changed: my question" in said
    assert "my question" in sources(started.my_lesson)
    assert any("their question" in each for each in sources(started.my_lesson))


def test_a_new_file_of_a_chapter_comes_and_a_deleted_copy_comes_back(started):
    (started.folder / "picture.svg").write_text("<svg/>")
    started.my_exercises.unlink()
    copies.bring(copies.of_chapter(started))
    assert (started.working_copy / "picture.svg").read_text() == "<svg/>"
    assert sources(started.my_exercises) == sources(started.exercises)


@pytest.mark.parametrize("changed", [False, True])
def test_a_program_of_a_chapter_is_replaced_unless_the_learner_has_changed_it(started, changed):
    mine, new = started.working_copy / "helper.py", started.working_copy / "helper.course.py"
    if changed:
        mine.write_text("my own\n")
    (started.folder / "helper.py").write_text("2\n")
    said = copies.bring(copies.of_chapter(started))
    assert mine.read_text() == ("my own\n" if changed else "2\n")
    assert new.exists() is changed
    assert bool(said) is changed
    assert copies.bring(copies.of_chapter(started)) == []


def test_a_copy_that_is_no_notebook_is_left_alone(started):
    started.my_lesson.write_text("my notes")
    rewrite(started.lesson, "# 07 A toy", "new")
    (said,) = copies.bring(copies.of_chapter(started))
    assert "07_toy.course.ipynb beside it" in said
    assert started.my_lesson.read_text() == "my notes"
    assert sources(started.working_copy / "07_toy.course.ipynb") == ["# 07 A toy", "new"]


def test_a_copy_of_an_older_version_of_the_course_keeps_its_text_under_the_new_name(toy):
    toy.working_copy.mkdir(parents=True)
    (toy.working_copy / "exercises.ipynb").write_text(as_text(new_notebook([new_cell("markdown", "my answers", "a")])))
    said = copies.bring(copies.of_chapter(toy))
    assert sources(toy.my_exercises) == ["my answers"]
    assert sources(toy.my_lesson) == sources(toy.lesson)
    assert ["no update reaches it" in each for each in said] == [True]


# What JupyterLab's server does, in a process that has the files of a clone: PATHS are opened, and with WORDS a cell is
# appended to each of them, each question is answered, and the notebook is saved.
SERVER = """
import asyncio, json, sys
from pathlib import Path
from traitlets.config import PyFileConfigLoader

config = PyFileConfigLoader("lab_config.py", "course/_tools").load_config()
files = config.ServerApp.contents_manager_class(root_dir=str(Path.cwd()), config=config)

async def open_and_save(path, words):
    model = await files.get(path)
    cells = model["content"]["cells"]
    if words:
        for cell in cells:
            if "predict" in cell["metadata"].get("tags", []):
                cell["source"] = cell["source"].replace("=...", "='mine'")
            if cell["cell_type"] == "code":
                cell["outputs"] = []
        cells.append({"cell_type": "markdown", "id": "my-own", "metadata": {}, "source": words})
        await files.save(model, path)
    return [cell["source"] for cell in cells]

async def is_trusted(path):
    cells = (await files.get(path))["content"]["cells"]
    return all(cell["metadata"]["trusted"] for cell in cells if cell["cell_type"] == "code")

async def main():
    paths, words = json.loads(sys.argv[1])
    told = {"start": config.LabApp.default_url, "trusted": await is_trusted("course/work/02_tensor/02_tensor.ipynb")}
    told["opened"] = {p: await open_and_save(p, words) for p in paths}
    told["listed"] = [each["name"] for each in (await files.get("course"))["content"]]
    given = await files.get("course/primer.ipynb")
    told["writable"] = given["writable"]
    try:
        await files.save(given, "course/primer.ipynb")
    except Exception as error:
        told["refused"] = str(error)
    print(json.dumps(told))

asyncio.run(main())
"""


def serve(clone: Path, paths: list[str], words: str = "") -> dict:
    environment = {**os.environ, "JUPYTER_DATA_DIR": str(clone.parent / "jupyter")}
    environment.pop("REFTORCH_COURSE_WORK", None)
    command = [sys.executable, "-c", SERVER, json.dumps([paths, words])]
    done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def git(folder: Path, *words: str) -> str:
    named = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    return subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_lessons_are_read_in_copies_and_git_pull_brings_their_update(tmp_path):
    upstream, clone = tmp_path / "upstream", tmp_path / "clone"
    listed = git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "course", ".gitignore").splitlines()
    for name in listed:
        (upstream / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, upstream / name)
    git(upstream, "init", "-q")
    git(upstream, "add", ".")
    git(upstream, "commit", "-q", "-m", "one")
    git(tmp_path, "clone", "-q", str(upstream), str(clone))

    told = serve(clone, [])
    assert told["start"] == "/lab/tree/course/work/index.ipynb"
    assert "work" in told["listed"]
    assert not {"index.ipynb", "03_operator"} & set(told["listed"])  # one lesson is the learner's, and in sight
    assert told["writable"] is False
    assert "Your copy is in" in told["refused"]

    # Every link of the start page leads to a copy, which comes into being when somebody opens it.
    assert told["trusted"]
    serve(clone, ["course/work/index.ipynb"])
    start = (clone / "course/work/index.ipynb").read_text()
    named = [(f"{c.folder.name}/{c.my_lesson.name}", f"{c.folder.name}/{c.my_exercises.name}") for c in chapters()]
    linked = [name for pair in named for name in pair]
    assert [name for name in linked if f'href=\\"{name}\\"' not in start] == []
    paths = [f"course/work/{name}" for name in (*linked, "index.ipynb", "primer.ipynb")]
    serve(clone, paths, "a word of mine")
    assert git(clone, "status", "--porcelain") == ""

    # The course changes: another text, another question, and an exercise more in the middle.
    lesson = upstream / "course/02_tensor/lesson.ipynb"
    content = read(lesson)
    questions = [cell for cell in content["cells"] if "predict" in cell["metadata"].get("tags", [])]
    content["cells"][1]["source"] += "\n\nA new sentence."
    questions[0]["source"] += "  # asked in another way"
    lesson.write_text(as_text(content))
    exercises = upstream / "course/02_tensor/exercises.ipynb"
    content = read(exercises)
    content["cells"].insert(3, new_cell("markdown", "## An exercise more", "02-0-task-1"))
    exercises.write_text(as_text(content))
    git(upstream, "commit", "-q", "-a", "-m", "two")
    git(clone, "pull", "-q", "--ff-only")

    opened = serve(clone, paths)["opened"]
    assert all("a word of mine" in cells for cells in opened.values())
    cells = opened["course/work/02_tensor/02_tensor.ipynb"]
    assert any("A new sentence." in each for each in cells)
    answers = [each for each in cells if "='mine'" in each]
    assert len(answers) == len([each for each in questions if "=..." in each["source"]])
    assert sum("asked in another way" in each for each in cells) == 1
    assert any("The course has a new version of the cell above" in each for each in cells)
    assert "## An exercise more" in opened["course/work/02_tensor/02_exercises.ipynb"]
    assert git(clone, "status", "--porcelain") == ""


def test_a_copy_has_no_outputs_that_tell_an_answer_before_its_cells_run(toy):
    cells = [new_cell("markdown", "# 07 A toy", "title")]
    for name, tag in (("ask", "predict"), ("told", "reveal"), ("shown", ""), ("asked-again", "predict")):
        shown = [{"output_type": "stream", "name": "stdout", "text": name}]
        cells.append({**new_cell("code", name, name, tags=[tag]), "outputs": shown, "execution_count": 1})
    toy.lesson.write_text(as_text(new_notebook(cells)))
    copies.bring(copies.of_chapter(toy))
    assert [cell["id"] for cell in read(toy.my_lesson)["cells"] if cell.get("outputs")] == [
        "ask",
        "told",
        "asked-again",
    ]
