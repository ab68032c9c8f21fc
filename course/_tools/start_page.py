"""The start page's table: the chapters, how far the learner is, and what comes next.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: following changes; the cell is run again to see progress.
"""

from __future__ import annotations

from html import escape
from typing import Any

from course._tools import work
from course._tools.exercises import exercises_of
from course._tools.layout import Chapter, chapters
from course._tools.listing import link, with_code
from course._tools.syllabus import entry_of, next_chapter


class StartPage:
    """The chapters as a table; in a terminal, as lines."""

    def __init__(self, rows: list[tuple[Chapter, int, int]]) -> None:
        self.rows = rows
        self.next_step = next_chapter()

    def __repr__(self) -> str:
        lines = [f"{c.folder.name:16} {passed} of {total} exercises  {c.title}" for c, passed, total in self.rows]
        return "\n".join([*lines, f"next: {self.next_step}"])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._html()}

    def _html(self) -> str:
        cell = "padding:6px 14px;text-align:left"
        head = "".join(
            f'<th style="{cell}">{name}</th>' for name in ("", "chapter", "time", "difficulty", "passed", "open")
        )
        rows = "".join(
            f'<tr><td style="{cell}">{c.number}</td><td style="{cell}">{escape(c.title)}</td>'
            f'<td style="{cell};white-space:nowrap">{_time(c)}</td><td style="{cell}">{_difficulty(c)}</td>'
            f'<td style="{cell};white-space:nowrap">{_bar(passed, total)}</td><td style="{cell}">{_links(c)}</td></tr>'
            for c, passed, total in self.rows
        )
        return (
            f'<table style="font-size:14px;border-collapse:collapse"><thead><tr>{head}</tr></thead><tbody>{rows}'
            f"</tbody></table><p>Next: {with_code(self.next_step)}</p>"
        )


def _time(chapter: Chapter) -> str:
    """How long a chapter takes, in hours and minutes, and how long each part of its lesson takes."""
    entry = entry_of(chapter)
    if entry is None:
        return ""
    if not entry.parts:
        return _in_hours(entry.minutes)
    times = [f"part {number}: {_in_hours(minutes)}" for number, minutes in enumerate(entry.parts, start=1)]
    times.append(f"exercises: {_in_hours(entry.minutes - sum(entry.parts))}")
    return f'{_in_hours(entry.minutes)}<br><span style="font-size:12px">{"<br>".join(times)}</span>'


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
        '<span style="display:inline-block;width:90px;height:8px;border-radius:4px;background:rgba(128,128,128,.3)">'
        f'<span style="display:block;width:{done}%;height:8px;border-radius:4px;background:#2da44e"></span></span>'
        f" &nbsp;{passed} of {total}"
    )


def _links(chapter: Chapter) -> str:
    folder = chapter.working_copy if chapter.working_copy.exists() else chapter.folder
    targets = [("lesson", folder / "lesson.ipynb")]
    if folder == chapter.working_copy:
        targets.append(("exercises", folder / "exercises.ipynb"))
    return " &nbsp; ".join(link(str(file), name) for name, file in targets)


def start_page() -> StartPage:
    """The chapters of the checkout and the learner's progress in them."""
    rows = []
    for chapter in chapters():
        exercises = exercises_of(chapter)
        results = work.read_progress(chapter).get("results", {})
        passed = sum(results.get(number) == "passed" for number in exercises)
        rows.append((chapter, passed, len(exercises)))
    return StartPage(rows)
