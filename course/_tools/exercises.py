"""Exercises of a chapter: read from the solved source, and stripped to the notebook a learner gets.

Mirrors: nothing in PyTorch: the course's own bookkeeping.
Leaves out: lessons; a lesson is its own source.

A cell of the solved source belongs to an exercise by `exercise="03.1"` and has a `role`:
`task` (markdown), `given`, `answer`, `check`, `hint` (markdown), `debrief` (markdown, shown when the check passes).
The learner's notebook keeps the first four; in an answer, the lines between the solution marks become a stub.
Wrong answers that the check must reject are beside it, in mutants.py, in cells of the role `mutant`. A long chapter has
parts of these files, such as exercises_kernels.py, whose cells follow.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from course._tools.layout import Chapter, CourseError, chapters, find_chapter, shown
from course._tools.notebook import Notebook, new_cell, new_notebook
from course._tools.percent import Cell, parse

KINDS = ("build", "read", "fix")
LEARNERS_ROLES = ("task", "given", "answer", "check")

# Python and C++ answers differ in their comment sign and in how a stub says that it is one.
MARKS = re.compile(
    r"^(?P<indent>[ \t]*)(?P<sign>#|//) BEGIN SOLUTION\n(?P<body>.*?)^[ \t]*(?P=sign) END SOLUTION$", re.M | re.S
)
STUBS = {
    "#": 'raise NotImplementedError("exercise {number}")',
    "//": 'TORCH_CHECK_NOT_IMPLEMENTED(false, "exercise {number}");',
}


@dataclass
class Exercise:
    """One exercise: its cells by role, in the order of the source."""

    number: str
    kind: str
    title: str
    cells: dict[str, list[Cell]] = field(default_factory=dict)

    @property
    def hints(self) -> list[str]:
        return [cell.source for cell in self.cells.get("hint", [])]

    @property
    def debrief(self) -> str:
        """How PyTorch does the same, and what the trade-off is; empty where the exercise says nothing of it."""
        return "\n\n".join(cell.source for cell in self.cells.get("debrief", []))

    @property
    def mutants(self) -> list[Cell]:
        return self.cells.get("mutant", [])

    @property
    def answers(self) -> list[Cell]:
        return self.cells["answer"]

    @property
    def check(self) -> Cell:
        return self.cells["check"][0]


def stub(source: str, number: str) -> str:
    """`source` with each marked solution replaced by a line that raises, naming the exercise."""
    return MARKS.sub(lambda mark: mark["indent"] + STUBS[mark["sign"]].format(number=number), source)


def solution(source: str) -> str:
    """`source` without the marks of its solutions."""
    return re.sub(r"^[ \t]*(?:#|//) (?:BEGIN|END) SOLUTION\n", "", source + "\n", flags=re.M).rstrip("\n")


def _cells(file: Path) -> list[Cell]:
    """The cells of a file, and of the parts that are files of their own beside it, such as `exercises_kernels.py`."""
    parts = sorted(file.parent.glob(f"{file.stem}_*.py"))
    return [cell for each in (file, *parts) for cell in parse(each.read_text())]


def solved_cells(chapter: Chapter) -> list[Cell]:
    """Every cell of the chapter's solved source."""
    return _cells(chapter.solved)


def exercises_of(chapter: Chapter) -> dict[str, Exercise]:
    """The chapter's exercises by number.

    Raises:
        CourseError: the source breaks a rule an exercise lives by (kind, roles, marks).
    """
    found: dict[str, Exercise] = {}
    for cell in [*solved_cells(chapter), *_cells(chapter.mutants)]:
        number = cell.attributes.get("exercise")
        if number is None:
            continue
        if number not in found:
            found[number] = Exercise(number, cell.attributes.get("kind", ""), cell.attributes.get("title", ""))
        found[number].cells.setdefault(cell.attributes.get("role", ""), []).append(cell)
    for exercise in found.values():
        _hold(exercise, chapter)
    return found


def _hold(exercise: Exercise, chapter: Chapter) -> None:
    roles = exercise.cells
    rules = {
        f"its kind is one of {KINDS}": exercise.kind in KINDS,
        "it has a title": bool(exercise.title),
        "its number starts with the chapter's": exercise.number.startswith(chapter.number + "."),
        "its roles are known": set(roles) <= {*LEARNERS_ROLES, "hint", "debrief", "mutant"},
        "it has a task, an answer, one check and a hint": {"task", "answer", "check", "hint"} <= set(roles)
        and len(roles["check"]) == 1,
        "each answer marks its solution": all(MARKS.search(cell.source) for cell in roles.get("answer", [])),
    }
    for rule, holds in rules.items():
        if not holds:
            raise CourseError(f"{shown(chapter.solved)}: exercise {exercise.number} breaks a rule: {rule}")


def find_exercise(text: str) -> tuple[Chapter, Exercise]:
    """The exercise a learner means by `03.1` or `3.1`."""
    chapter_text, _, ordinal = text.partition(".")
    chapter = find_chapter(chapter_text)
    exercises = exercises_of(chapter)
    number = f"{chapter.number}.{ordinal}"
    if number not in exercises:
        raise CourseError(f"no exercise {text!r}; chapter {chapter.number} has: {', '.join(exercises)}")
    return chapter, exercises[number]


def all_exercises() -> dict[str, Exercise]:
    """Every exercise of every chapter, by number."""
    return {number: exercise for chapter in chapters() for number, exercise in exercises_of(chapter).items()}


def learners_notebook(chapter: Chapter, *, solved: bool = False) -> Notebook:
    """The notebook a learner gets, or the same with the solutions left in.

    The id of a cell says which cell of which exercise it is, because a new version of the course finds the cell by the
    id in the learner's copy: an exercise that is put between others must not change their ids.
    """
    cells = []
    names: Counter[str] = Counter()
    for cell in solved_cells(chapter):
        number, role = cell.attributes.get("exercise"), cell.attributes.get("role")
        if number is not None and role not in LEARNERS_ROLES:
            continue
        source = cell.source
        if role == "answer":
            source = solution(source) if solved else stub(source, number)
        metadata = {"reftorch": {"exercise": number, "role": role}} if number else {}
        name = f"{number.replace('.', '-')}-{role}" if number else cell.kind
        names[name] += 1
        cells.append(new_cell(cell.kind, source, f"{name}-{names[name]}", **metadata))
    return new_notebook(cells)
