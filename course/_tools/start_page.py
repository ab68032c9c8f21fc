"""The start page's table: the chapters, how far the learner is, and what comes next.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: following changes; the cell is run again to see progress.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from course._tools import work
from course._tools.exercises import exercises_of
from course._tools.layout import Chapter, chapters, workspace
from course._tools.listing import link
from course._tools.syllabus import end_of_the_course, entry_of, next_chapter, next_step


class StartPage:
    """The chapters as a table; in a terminal, as lines."""

    def __init__(self, rows: list[tuple[Chapter, int, int]]) -> None:
        self.rows = rows

    def __repr__(self) -> str:
        lines = [f"{c.folder.name:16} {passed} of {total} exercises  {c.title}" for c, passed, total in self.rows]
        return "\n".join([*lines, f"next: {next_chapter()}"])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._html()}

    def _html(self) -> str:
        cell = "padding:4px 8px;text-align:left;vertical-align:top"
        short = f"{cell};white-space:nowrap"
        head = "".join(f'<th style="{cell}">{name}</th>' for name in ("", "chapter", "time", "difficulty", "exercises"))
        rows = "".join(
            f'<tr><td style="{cell}">{c.number}</td><td style="{cell}">{_link(c, "lesson", escape(c.title))}</td>'
            f'<td style="{short}">{_time(c)}</td><td style="{short}">{_difficulty(c)}</td>'
            f'<td style="{short}">{_bar(passed, total)} {_link(c, "exercises", f"{passed} of {total}")}</td></tr>'
            for c, passed, total in self.rows
        )
        # JupyterLab gives all columns the same width, unless the table asks for another layout.
        table = "font-size:13px;border-collapse:collapse;table-layout:auto;width:100%"
        return (
            f'<p style="font-size:15px"><b>Next: {self._next()}</b></p>'
            f'<table style="{table}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        )

    def _next(self) -> str:
        """A link to where the learner goes on."""
        step = next_step()
        if step is None:
            return escape(end_of_the_course())
        chapter, begun = step
        lesson = _link(chapter, "lesson", f"{chapter.number} {escape(chapter.title)}")
        return f"{lesson}, and its {_link(chapter, 'exercises', 'exercises')}" if begun else lesson


def _link(chapter: Chapter, which: str, label: str) -> str:
    """A link to a notebook: from the learner's copy of the start page to the copy, which is made when it is opened."""
    mine = {"lesson": chapter.my_lesson, "exercises": chapter.my_exercises}[which]
    theirs = {"lesson": chapter.lesson, "exercises": chapter.exercises}[which]
    return link(str(mine if Path.cwd().is_relative_to(workspace()) else theirs), label)


def _time(chapter: Chapter) -> str:
    """Return how long a chapter takes, in hours and minutes, and how long each part of its lesson takes."""
    entry = entry_of(chapter)
    if entry is None:
        return ""
    if not entry.parts:
        return _in_hours(entry.minutes)
    times = [f"part {number}: {_in_hours(minutes)}" for number, minutes in enumerate(entry.parts, start=1)]
    times.append(f"exercises: {_in_hours(entry.minutes - sum(entry.parts))}")
    return f'<span title="{", ".join(times)}">{_in_hours(entry.minutes)}</span>'


def _in_hours(total: int) -> str:
    hours, minutes = divmod(total, 60)
    return " ".join(part for part in (f"{hours} h" if hours else "", f"{minutes} min" if minutes else "") if part)


def _difficulty(chapter: Chapter) -> str:
    """One to three dots."""
    entry = entry_of(chapter)
    level = entry.difficulty if entry else 0
    return f'<span title="{level} of 3" style="letter-spacing:2px">{"●" * level}{"○" * (3 - level)}</span>'


def _bar(passed: int, total: int) -> str:
    done = round(100 * passed / total)
    return (
        '<span style="display:inline-block;width:48px;height:8px;border-radius:4px;background:rgba(128,128,128,.3)">'
        f'<span style="display:block;width:{done}%;height:8px;border-radius:4px;background:#2da44e"></span></span>'
    )


def start_page() -> StartPage:
    """The chapters of the checkout and the learner's progress in them."""
    rows = []
    for chapter in chapters():
        exercises = exercises_of(chapter)
        results = work.read_progress(chapter).get("results", {})
        passed = sum(results.get(number) == "passed" for number in exercises)
        rows.append((chapter, passed, len(exercises)))
    return StartPage(rows)
