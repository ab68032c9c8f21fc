"""Where the course's files are: the chapters, their solved exercises, the learner's working copies.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: an installed course; chapters are read from a checkout or a copy (see lab.py), whose source learners change.
Its C++ sources, though, are found (`on_disk`), so that `%torch_source` works wherever reftorch was installed.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from course._tools import notebook

ROOT = Path(__file__).resolve().parents[2]
COURSE = ROOT / "course"
# Set where a check runs a notebook: cells of it that call the learner's commands must not carry them out once more.
CHECKING = "REFTORCH_COURSE_CHECKING"


class CourseError(Exception):
    """A request that cannot be carried out; its text tells the learner what to do instead."""


def workspace() -> Path:
    """The folder of the learner's working copies: `course/work`, or where `REFTORCH_COURSE_WORK` points."""
    return Path(os.environ.get("REFTORCH_COURSE_WORK") or COURSE / "work").resolve()


def shown(path: Path) -> str:
    """`path` as a learner would type it: from the root of the checkout, for one who works inside it."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) and Path.cwd().is_relative_to(ROOT) else str(path)


def to_run(words: str) -> str:
    """Return how the learner calls a command from here: in a notebook by the magic, or else by the function."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if not hasattr(shell, "kernel"):
        return f"reftorch-course {words}"
    return f"%course {words}" if shell.find_line_magic("course") else f'course("{words}")'


def on_disk(path: str, root: Path = ROOT) -> Path:
    """The file or folder that a checkout has at `path`; an installed package has the C++ sources inside it."""
    inside = root / "reftorch" / path
    return inside if path.split("/")[0] == "cpp" and inside.exists() else root / path


def in_checkout(file: Path, root: Path = ROOT) -> str | None:
    """Return the path of `file` in a checkout, the inverse of `on_disk`; None for a file outside of it."""
    if not file.is_relative_to(root):
        return None
    path = file.relative_to(root).as_posix()
    return path.removeprefix("reftorch/") if path.startswith("reftorch/cpp/") else path


@dataclass(frozen=True)
class Chapter:
    """One folder `course/NN_name`."""

    folder: Path

    @property
    def number(self) -> str:
        return self.folder.name[:2]

    @property
    def lesson(self) -> Path:
        return self.folder / "lesson.ipynb"

    @property
    def exercises(self) -> Path:
        return self.folder / "exercises.ipynb"

    @property
    def solved(self) -> Path:
        return self.folder / "_solutions" / "exercises.py"

    @property
    def mutants(self) -> Path:
        return self.folder / "_solutions" / "mutants.py"

    @property
    def working_copy(self) -> Path:
        """The folder in which the learner reads and solves this chapter."""
        return workspace() / self.folder.name

    @property
    def my_lesson(self) -> Path:
        """The learner's copy of the lesson. Its name is the chapter's, because tabs show only the name."""
        return self.working_copy / f"{self.folder.name}.ipynb"

    @property
    def my_exercises(self) -> Path:
        return self.working_copy / f"{self.number}_exercises.ipynb"

    @cached_property
    def title(self) -> str:
        """The lesson's first heading, without its chapter number."""
        first = notebook.read(self.lesson)["cells"][0]["source"]
        heading = re.search(r"^# +(.*)$", first, re.M)
        if heading is None:
            raise CourseError(f"{shown(self.lesson)} does not open with a heading")
        return re.sub(r"^\d\d +", "", heading[1])


def chapters() -> list[Chapter]:
    """Every chapter of the checkout, in order."""
    return [Chapter(folder) for folder in sorted(COURSE.glob("[0-9][0-9]_*")) if folder.is_dir()]


def pages() -> list[Path]:
    """The notebooks that belong to no chapter, those of them that are there."""
    return [
        file for name in ("index", "whole_game", "glossary", "primer") if (file := COURSE / f"{name}.ipynb").exists()
    ]


def find_chapter(text: str) -> Chapter:
    """The chapter a learner means by `03`, `3`, `operator` or `03_operator`."""
    for chapter in chapters():
        name = chapter.folder.name
        if text in (name, name[3:], chapter.number) or (text.isdigit() and int(text) == int(chapter.number)):
            return chapter
    known = ", ".join(chapter.folder.name for chapter in chapters())
    raise CourseError(f"no chapter {text!r}; the chapters are: {known}")
