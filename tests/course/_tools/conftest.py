"""A toy chapter that needs no reftorch, so that the tools are tested apart from what the course teaches.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from course._tools import layout
from course._tools.exercises import learners_notebook
from course._tools.layout import Chapter
from course._tools.notebook import as_text, new_cell, new_notebook, read

TOY = '''"""Toy."""
# %%
from course._tools import check

# %% [markdown] exercise="07.1" role="task" kind="build" title="double a number"
# ### 07.1
# %% exercise="07.1" role="answer"
def double(x):
    # BEGIN SOLUTION
    return 2 * x
    # END SOLUTION
# %% exercise="07.1" role="check"
with check("07.1", "double a number") as c:
    c.equal("double(4)", came=double(4), expected=8)
# %% [markdown] exercise="07.1" role="hint"
# Think of `x + x`.
# %% [markdown] exercise="07.1" role="hint"
# `2 * x` does it.
# %% [markdown] exercise="07.2" role="task" kind="read" title="the answer"
# ### 07.2
# %% exercise="07.2" role="answer"
KERNEL = r"""
  // BEGIN SOLUTION
  return 42;
  // END SOLUTION
"""
def answer():
    # BEGIN SOLUTION
    return 42
    # END SOLUTION
# %% exercise="07.2" role="check"
with check("07.2", "the answer") as c:
    c.equal("answer()", came=answer(), expected=6 * 7)
# %% [markdown] exercise="07.2" role="hint"
# Six times seven.
'''

MUTANTS = '''"""Wrong answers."""
# %% exercise="07.1" role="mutant" why="squares"
def double(x):
    return x * x
'''


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Chapter:
    """A course of one chapter, with an empty workspace."""
    folder = tmp_path / "course" / "07_toy"
    (folder / "_solutions").mkdir(parents=True)
    (folder / "_solutions" / "exercises.py").write_text(TOY)
    (folder / "_solutions" / "mutants.py").write_text(MUTANTS)
    monkeypatch.setattr(layout, "COURSE", tmp_path / "course")
    monkeypatch.setenv("REFTORCH_COURSE_WORK", str(tmp_path / "work"))
    chapter = Chapter(folder)
    chapter.lesson.write_text(as_text(new_notebook([new_cell("markdown", "# 07 A toy\n\nText.", "title")])))
    (folder.parent / "index.ipynb").write_text(as_text(new_notebook([])))
    chapter.exercises.write_text(as_text(learners_notebook(chapter)))
    return chapter


@pytest.fixture
def answer(toy: Chapter):
    """Write an answer into the working copy: `answer("07.1", source)`."""

    def write(number: str, source: str) -> None:
        file = toy.my_exercises
        notebook = read(file)
        mark = {"exercise": number, "role": "answer"}
        (cell,) = (c for c in notebook["cells"] if c["metadata"].get("reftorch") == mark)
        cell["source"] = source
        file.write_text(as_text(notebook))

    return write
