"""The whole route of the course, written or to come, and its picture for the start page.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: what a chapter teaches in detail; its lesson says that.
"""

from __future__ import annotations

from typing import NamedTuple

from course._tools import work
from course._tools.exercises import exercises_of
from course._tools.layout import Chapter, chapters, shown, to_run
from course._tools.pictures import FLOORS
from reftorch.debug.common.svg import LINE, MUTED, Picture

PAPER, DONE, BEGUN = "#ffffff", "#aceebb", "#ffe58a"


class Entry(NamedTuple):
    """One chapter of the plan: the floor of the house it is mostly about, and its subject in two short lines."""

    name: str
    floor: str
    first: str
    second: str
    minutes: int = 60  # to read the lesson and solve the exercises, without the project
    difficulty: int = 1  # one to three
    edition: int = 1  # of the second, the gates hold the form that tags.py describes
    parts: tuple[int, ...] = ()  # a long lesson has parts, with places to rest between them: minutes to read each part


SYLLABUS = (
    Entry("00_setup", "core", "a debug build, and", "three ways to look", 140, 1, edition=2),
    Entry("01_import", "binding", "what import does", "before your first line", 185, 2, edition=2),
    Entry("02_tensor", "core", "storage, strides,", "views, dtypes", 260, 1, edition=2),
    Entry("03_operator", "dispatcher", "one op, from Python", "down to its kernel", 260, 2, edition=2),
    Entry("04_debugging", "binding", "a wrong number, in", "Python and in C++", 215, 2, edition=2),
    Entry("05_autograd_graph", "autograd", "nodes, and what", "each of them keeps", 240, 2, 2, parts=(40, 50)),
    Entry("06_autograd_engine", "autograd", "backward, a node", "after the other", 320, 3, 2, parts=(60, 50)),
    Entry("07_nn_module", "python", "parameters, buffers,", "hooks, state_dict", 180, 2, edition=2),
    Entry("08_norm_layers", "native", "batch norm and its", "kin, and backward", 180, 2, edition=2),
    Entry("09_optim", "python", "optimizers, groups,", "schedulers", 190, 2, edition=2),
    Entry("10_data", "python", "datasets, samplers,", "worker processes", 165, 2, edition=2),
    Entry("11_sharing", "core", "saving, and memory", "that processes share", 160, 2, edition=2),
    Entry("12_parallel", "python", "data parallel, and", "many processes", 240, 3, edition=2),
    Entry("13_fx", "python", "programs as graphs,", "and their transforms", 190, 3, edition=2),
    Entry("14_debugging_models", "autograd", "find the NaN, find", "the wrong gradient", 190, 2, edition=2),
    Entry("15_cuda", "kernel", "kernels, streams,", "a caching allocator", 330, 3, 2, parts=(55, 35)),
    Entry("16_capstone", "python", "a GPT, and one bug in", "the real PyTorch", 310, 3, 2, parts=(60, 50)),
)


def entry_of(chapter: Chapter) -> Entry | None:
    """Return what the syllabus says of a chapter; None where the syllabus does not have the chapter."""
    return next((entry for entry in SYLLABUS if entry.name == chapter.folder.name), None)


def edition(chapter: Chapter) -> int:
    """Return the edition of the course's form that a chapter has; 1 if the syllabus does not have the chapter."""
    entry = entry_of(chapter)
    return entry.edition if entry else 1


def written() -> dict[str, Chapter]:
    """The chapters that are there, by number."""
    return {chapter.number: chapter for chapter in chapters()}


def course_map() -> Picture:
    """Draw all chapters in their order, each in the colour of how far the learner is; those to come are pale."""
    width, height, gap, columns = 166, 86, 12, 5
    rows = -(-len(SYLLABUS) // columns)
    there = written()
    passed = {number: _passed(chapter) for number, chapter in there.items()}
    caption = f"the route of {len(SYLLABUS)} chapters, {len(there)} of them written"
    picture = Picture(columns * (width + gap) + 8, rows * (height + 30) + 34, caption)
    for position, entry in enumerate(SYLLABUS):
        row, column = divmod(position, columns)
        x, y = 10 + column * (width + gap), 10 + row * (height + 30)
        number, _, name = entry.name.partition("_")
        fill = {None: PAPER, "done": DONE, "begun": BEGUN}[passed.get(number)]
        ink = {} if number in there else {"fill": MUTED}
        picture.box(x, y, width, height, fill=fill, line=FLOORS[entry.floor][1] if number in there else LINE)
        picture.box(x + 1, y + 1, 6, height - 2, fill=FLOORS[entry.floor][0], line=FLOORS[entry.floor][1], r=2)
        picture.text(x + 16, y + 22, number, bold=True, mono=True, **ink)
        picture.text(x + 40, y + 22, name.replace("_", " "), size=12 if len(name) < 16 else 11, bold=True, **ink)
        picture.text(x + 16, y + 44, entry.first, size=12, **ink)
        picture.text(x + 16, y + 60, entry.second, size=12, **ink)
        if number not in there:
            picture.text(x + 16, y + 78, "to come", size=11, fill=MUTED)
        if position + 1 < len(SYLLABUS):
            _arrow(picture, x, y, width, height, gap, columns, last_column=column == columns - 1)
    y = rows * (height + 30) + 14
    for x, fill, what in ((10, DONE, "all exercises passed"), (190, BEGUN, "started"), (290, PAPER, "not started")):
        picture.box(x, y, 14, 12, fill=fill, r=2)
        picture.text(x + 20, y + 11, what, size=12, fill=MUTED)
    return picture


def _arrow(
    picture: Picture, x: float, y: float, width: float, height: float, gap: float, columns: int, *, last_column: bool
) -> None:
    if not last_column:
        picture.arrow(x + width, y + height / 2, x + width + gap, y + height / 2)
        return
    middle, first = y + height + 15, 10 + width / 2
    picture.path([(x + width / 2, y + height), (x + width / 2, middle), (first, middle)], line=MUTED)
    picture.arrow(first, middle, first, y + height + 30)


def _passed(chapter: Chapter) -> str | None:
    """Return how far the learner is: nothing, `begun` or `done`."""
    if not chapter.working_copy.exists():
        return None
    results = work.read_progress(chapter).get("results", {})
    return "done" if all(results.get(number) == "passed" for number in exercises_of(chapter)) else "begun"


def next_step() -> tuple[Chapter, bool] | None:
    """The chapter to go on with, and whether it is started; None where all that is written has been passed."""
    states = ((chapter, _passed(chapter)) for chapter in written().values())
    return next(((chapter, state == "begun") for chapter, state in states if state != "done"), None)


def end_of_the_course() -> str:
    """Return the text for a learner who has passed all exercises."""
    coming = next((entry.name for entry in SYLLABUS if entry.name[:2] not in written()), None)
    return f"you have passed all there is; {coming} is to come" if coming else "you have passed the whole course"


def next_chapter() -> str:
    """Return where to go on, in words: a chapter to finish, the next to start, or the end of what is written."""
    step = next_step()
    if step is None:
        return end_of_the_course()
    chapter, begun = step
    if begun:
        return f"go on in {shown(chapter.working_copy)}, then `{to_run(f'check {chapter.number}')}`"
    return f"chapter {chapter.number}, {chapter.title}: `{to_run(f'start {chapter.number}')}`"
