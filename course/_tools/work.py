"""The learner's working copies: started once, never overwritten, reset with a backup; and what is known of progress.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: merging a chapter that changed since it was started; `reset` keeps the old copy beside the new one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
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
    left_out = shutil.ignore_patterns("_solutions", ".ipynb_checkpoints", "__pycache__")
    # Under its name only when it is whole: a copy that was interrupted would be taken for somebody's work.
    with tempfile.TemporaryDirectory(prefix=".copying-", dir=target.parent) as temporary:
        copy = Path(temporary) / target.name
        shutil.copytree(chapter.folder, copy, ignore=left_out)
        for file in copy.glob("*.ipynb"):
            text = _led_back(file.read_text(), chapter.folder, target)
            file.write_text(_of_this_kernel(text))
        copy.rename(target)
    return target


def _of_this_kernel(text: str) -> str:
    """The text of a notebook as JupyterLab leaves the text, so that a copy is opened and not marked as changed."""
    content = json.loads(text)
    content["metadata"] |= notebook.kernel_metadata()
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _led_back(text: str, original: Path, copy: Path) -> str:
    """The text of a notebook, its links, in outputs and in markdown, leading from `copy` to where they led."""

    def moved(found: re.Match[str]) -> str:
        return found[1] + os.path.relpath(os.path.join(original, found[2]), copy)

    return re.sub(r'(href=\\"|\]\()(\.\./[^"#)\\\s]*)', moved, text)


def reset(chapter: Chapter) -> tuple[Path, Path]:
    """Move the working copy to a backup and start anew; returns the new copy and the backup."""
    target = _started(chapter)
    stamp = datetime.now().strftime("%Y-%m-%d_%H%M%S_%f")
    backup = workspace() / "_backups" / f"{chapter.folder.name}_{stamp}"
    backup.parent.mkdir(parents=True, exist_ok=True)
    target.rename(backup)
    return start(chapter), backup


def check(chapter: Chapter) -> list[Result]:
    """Run the learner's notebook, as last saved; `note` keeps the outcome."""
    from course._tools.runner import check_notebook  # what it needs takes seconds to import

    file = _started(chapter) / "exercises.ipynb"
    mend = f"get a fresh one with `reftorch-course reset {chapter.number}`, which keeps a backup"
    if not file.exists():
        raise CourseError(f"{shown(file)} is gone; {mend}")
    try:
        content = notebook.read(file)
    except (ValueError, KeyError, TypeError) as error:
        raise CourseError(f"{shown(file)} cannot be read as a notebook ({error}); {mend}") from None
    return check_notebook(chapter, content, file.parent)


def note(chapter: Chapter, results: list[Result]) -> None:
    """Keep the outcome of a check, for `status` and the start page."""
    progress = read_progress(chapter)
    progress["results"] = {result.exercise: result.state for result in results}
    progress["checked"] = datetime.now().isoformat(sep=" ", timespec="minutes")
    _write_progress(chapter, progress)


def hints_seen(chapter: Chapter, number: str) -> int:
    """How many hints to an exercise the learner has seen."""
    return read_progress(chapter).get("hints", {}).get(number, 0)


def note_hints(chapter: Chapter, number: str, seen: int) -> None:
    """Keep how many hints were seen, for a chapter that is started."""
    if chapter.working_copy.exists():
        progress = read_progress(chapter)
        progress.setdefault("hints", {})[number] = seen
        _write_progress(chapter, progress)


def read_progress(chapter: Chapter) -> dict[str, Any]:
    """What was noted of the chapter: `results` by exercise, `checked`, `hints`.

    Empty where nothing was noted, or nothing that can be read: the next check notes it anew.
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
            f"chapter {chapter.number} is not started; start it with `reftorch-course start {chapter.number}`"
        )
    return chapter.working_copy
