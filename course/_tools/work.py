"""The learner's working copies: started once, never overwritten, reset with a backup; and what is known of progress.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: making the copies and bringing them up to date, which is in `copies`.
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course._tools import copies, mytorch, notebook
from course._tools.layout import Chapter, CourseError, chapters, shown, to_run, workspace

if TYPE_CHECKING:
    from course._tools.runner import Result

PROGRESS = "progress.json"


def start(chapter: Chapter) -> tuple[Path, list[str]]:
    """Make the learner's copy of a chapter, or bring the copy up to date; returns it, and what could not be merged."""
    return chapter.working_copy, copies.bring(copies.of_chapter(chapter))


def update() -> list[str]:
    """Bring the copies of the start page, and of each chapter that is started, up to date with the course."""
    started = [copies.of_chapter(chapter) for chapter in chapters() if chapter.working_copy.exists()]
    return [said for folder in (copies.of_pages(), *started) for said in copies.bring(folder)]


def reset(chapter: Chapter) -> tuple[Path, Path]:
    """Move the working copy to a backup and start again; returns the new copy and the backup."""
    target = _started(chapter)
    stamp = datetime.now().strftime("%Y-%m-%d_%H%M%S_%f")
    backup = workspace() / "_backups" / f"{chapter.folder.name}_{stamp}"
    backup.parent.mkdir(parents=True, exist_ok=True)
    target.rename(backup)
    return start(chapter)[0], backup


def check(chapter: Chapter) -> list[Result]:
    """Run the learner's notebook, as last saved; `note` keeps the outcome."""
    from course._tools.runner import check_notebook  # what it needs takes seconds to import

    _started(chapter)
    file = chapter.my_exercises
    fix = f"get a fresh one with `{to_run(f'reset {chapter.number}')}`, which keeps a backup"
    if not file.exists():
        raise CourseError(f"{shown(file)} is gone; {fix}")
    try:
        content = notebook.read(file)
    except (ValueError, KeyError, TypeError) as error:
        raise CourseError(f"{shown(file)} cannot be read as a notebook ({error}); {fix}") from None
    return check_notebook(chapter, content, file.parent)


def note(chapter: Chapter, results: list[Result]) -> None:
    """Keep the outcome of a check, for `status` and the start page."""
    progress = read_progress(chapter)
    progress["results"] = {result.exercise: result.state for result in results}
    progress["checked"] = datetime.now().isoformat(sep=" ", timespec="minutes")
    _write_progress(chapter, progress)


def collect(chapter: Chapter, results: list[Result]) -> list[str]:
    """Write the answers that have passed in the learner's file into the learner's package; returns what to say."""
    said = []
    cells = notebook.read(chapter.my_exercises)["cells"]
    for number in [result.exercise for result in results if result.state == "passed"]:
        mark = {"exercise": number, "role": "answer"}
        sources = [cell["source"] for cell in cells if cell["metadata"].get("reftorch") == mark]
        said += mytorch.put_passed(number, sources) if sources else []
    return said


def note_in_notebook(chapter: Chapter, number: str, state: str) -> None:
    """Keep the outcome of a check that has run in the learner's notebook, and when: the file may be older."""
    progress = read_progress(chapter)
    progress.setdefault("in_notebook", {})[number] = {"state": state, "at": datetime.now().timestamp()}
    _write_progress(chapter, progress)


def not_saved(chapter: Chapter, results: list[Result]) -> list[str]:
    """The exercises that have passed in the notebook since the file was saved, and have not passed in the file."""
    seen = read_progress(chapter).get("in_notebook", {})
    saved = chapter.my_exercises.stat().st_mtime
    newer = [number for number, each in seen.items() if each["state"] == "passed" and each["at"] > saved]
    return [result.exercise for result in results if result.state != "passed" and result.exercise in newer]


def hints_seen(chapter: Chapter, number: str) -> int:
    """Return how many hints to an exercise the learner has seen."""
    return read_progress(chapter).get("hints", {}).get(number, 0)


def note_hints(chapter: Chapter, number: str, seen: int) -> None:
    """Keep how many hints were seen, for a chapter that is started."""
    if chapter.working_copy.exists():
        progress = read_progress(chapter)
        progress.setdefault("hints", {})[number] = seen
        _write_progress(chapter, progress)


def read_progress(chapter: Chapter) -> dict[str, Any]:
    """Return what was noted of the chapter: `results` by exercise, `checked`, `hints`.

    Empty if there is no note that can be read: the next check writes one.
    """
    try:
        progress = json.loads((chapter.working_copy / PROGRESS).read_text())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return {}
    return progress if isinstance(progress, dict) else {}


def _write_progress(chapter: Chapter, progress: dict[str, Any]) -> None:
    file = chapter.working_copy / PROGRESS
    whole = file.with_suffix(f".{os.getpid()}")  # interrupted, a check leaves the former progress; two do not meet
    try:
        whole.write_text(json.dumps(progress, indent=1) + "\n")
        whole.replace(file)
    except OSError as error:
        raise CourseError(f"{shown(file)} cannot be written ({error.strerror}): this is not noted") from None


def _started(chapter: Chapter) -> Path:
    if not chapter.working_copy.exists():
        raise CourseError(
            f"chapter {chapter.number} is not started; start it with `{to_run(f'start {chapter.number}')}`"
        )
    return chapter.working_copy
