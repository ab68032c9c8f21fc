"""The learner's working copies: started once, never overwritten, reset with a backup; and what is known of progress.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: merging a chapter that changed since it was started; `reset` keeps the old copy beside the new one.
"""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course._tools import notebook
from course._tools.layout import Chapter, CourseError, shown, workspace

if TYPE_CHECKING:
    from course._tools.runner import Result

PROGRESS = "progress.json"


def start(chapter: Chapter) -> Path:
    """Copy the chapter's notebooks, and what they use, to where the learner works.

    Raises:
        CourseError: there is a working copy already.
    """
    target = chapter.working_copy
    if target.exists():
        raise CourseError(
            f"{shown(target)} exists and is left as it is; go on in it, or start anew with "
            f"`reftorch-course reset {chapter.number}`, which keeps a backup"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(
        chapter.folder, target, ignore=shutil.ignore_patterns("_solutions", ".ipynb_checkpoints", "__pycache__")
    )
    return target


def reset(chapter: Chapter) -> tuple[Path, Path]:
    """Move the working copy to a backup and start anew; returns the new copy and the backup."""
    target = _started(chapter)
    stamp = datetime.now().strftime("%Y-%m-%d_%H%M%S_%f")
    backup = workspace() / "_backups" / f"{chapter.folder.name}_{stamp}"
    backup.parent.mkdir(parents=True, exist_ok=True)
    target.rename(backup)
    return start(chapter), backup


def check(chapter: Chapter) -> list[Result]:
    """Run the learner's notebook, as last saved, and note the outcome."""
    from course._tools.runner import check_notebook  # what it needs takes seconds to import

    file = _started(chapter) / "exercises.ipynb"
    mend = f"get a fresh one with `reftorch-course reset {chapter.number}`, which keeps a backup"
    if not file.exists():
        raise CourseError(f"{shown(file)} is gone; {mend}")
    try:
        content = notebook.read(file)
    except (ValueError, KeyError, TypeError) as error:
        raise CourseError(f"{shown(file)} cannot be read as a notebook ({error}); {mend}") from None
    results = check_notebook(chapter, content, file.parent)
    progress = read_progress(chapter)
    progress["results"] = {result.exercise: result.state for result in results}
    progress["checked"] = datetime.now().isoformat(sep=" ", timespec="minutes")
    _write_progress(chapter, progress)
    return results


def next_hint(chapter: Chapter, number: str, hints: list[str]) -> int:
    """How many of the hints the learner sees now: one more than the last time."""
    progress = read_progress(chapter)
    seen = progress.setdefault("hints", {})
    seen[number] = min(seen.get(number, 0) + 1, len(hints))
    if chapter.working_copy.exists():
        _write_progress(chapter, progress)
    return seen[number]


def read_progress(chapter: Chapter) -> dict[str, Any]:
    """What was noted of the chapter: `results` by exercise, `checked`, `hints`; empty where nothing was."""
    file = chapter.working_copy / PROGRESS
    return json.loads(file.read_text()) if file.exists() else {}


def _write_progress(chapter: Chapter, progress: dict[str, Any]) -> None:
    (chapter.working_copy / PROGRESS).write_text(json.dumps(progress, indent=1) + "\n")


def _started(chapter: Chapter) -> Path:
    if not chapter.working_copy.exists():
        raise CourseError(
            f"chapter {chapter.number} is not started; start it with `reftorch-course start {chapter.number}`"
        )
    return chapter.working_copy
