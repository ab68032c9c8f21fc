"""The learner's copies of the course's files: made when they are first opened, and brought up to date afterwards.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: merging notebooks, which is in `merge`; the learner's commands, which are in `work`.

Reading, predicting and solving happen in the copies, so that the files of the repository stay as they are, and an
update of the repository finds nothing in its way. In each folder of copies a hidden file keeps what was given, so that
a later version of the course is told from what the learner has written.

The server of JupyterLab runs this module too, and has nothing else of the course. So the module imports no library.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from course._tools import layout, notebook
from course._tools.folds import telling
from course._tools.layout import Chapter, chapters, pages, shown, workspace
from course._tools.merge import given, merge
from course._tools.notebook import Notebook, as_text

GIVEN = ".given.json"  # what was given, in each folder of copies
LEFT_OUT = {"_solutions", ".ipynb_checkpoints", "__pycache__"}
PICTURES = (".svg", ".png")


@dataclass(frozen=True)
class Folder:
    """A folder of the course, and the folder of the learner's with the copies of its files."""

    original: Path
    copy: Path
    files: tuple[tuple[Path, Path], ...]  # each file of the course, and its copy


def of_chapter(chapter: Chapter) -> Folder:
    """The files of a chapter, but for the solutions. The notebooks get the chapter's name, which a tab then shows."""
    renamed = {chapter.lesson: chapter.my_lesson, chapter.exercises: chapter.my_exercises}
    files = [
        (file, renamed.get(file, chapter.working_copy / file.relative_to(chapter.folder)))
        for file in sorted(chapter.folder.rglob("*"))
        if file.is_file() and not LEFT_OUT & set(file.relative_to(chapter.folder).parts)
    ]
    return Folder(chapter.folder, chapter.working_copy, tuple(files))


def of_pages() -> Folder:
    """The notebooks that belong to no chapter, and their pictures."""
    files = [*pages(), *(file for file in sorted(layout.COURSE.iterdir()) if file.suffix in PICTURES)]
    return Folder(layout.COURSE, workspace(), tuple((file, workspace() / file.name) for file in files))


def around(path: Path) -> Folder | None:
    """The folder whose copy holds, or will hold, the file `path`; None for a file that the course does not give."""
    if not path.is_relative_to(workspace()):
        return None
    name = path.relative_to(workspace()).parts[:1]
    chapter = next((each for each in chapters() if (each.folder.name,) == name), None)
    folder = of_chapter(chapter) if chapter else of_pages()
    return folder if path in {folder.copy, *(copy for _, copy in folder.files)} - {workspace()} else None


def is_given(path: Path) -> bool:
    """Return whether `path` is a notebook of the course itself: the learner has a copy, and this one stays as it is."""
    return path.suffix == ".ipynb" and path.is_relative_to(layout.COURSE) and path in dict(_all_copies())


def bring(folder: Folder) -> list[str]:
    """Make the copies that are missing, and bring those up to date whose original has changed since they were made.

    Returns:
        what could not be merged, each with the name of the file. Nothing that the learner has written is lost.
    """
    if folder.copy == workspace():
        folder.copy.mkdir(parents=True, exist_ok=True)
    elif not folder.copy.exists():
        _make(folder)
        return []
    _rename_older(folder)
    kept = _kept(folder)
    said: list[str] = []
    for original, copy in folder.files:
        name = copy.relative_to(folder.copy).as_posix()
        content = original.read_bytes()
        if not copy.exists():
            kept[name] = _write_new(original, content, copy)
            _keep(folder, kept)
        elif name not in kept:
            if copy.suffix == ".ipynb":
                said.append(f"{shown(copy)}: it was made by an older version of the course, and no update reaches it")
        elif kept[name]["digest"] != _digest(content):
            said += [f"{shown(copy)}: {each}" for each in _update(original, content, copy, kept[name])]
            kept[name] = _record(original, content, copy)
            _keep(folder, kept)
    return said


# --- making copies ----------------------------------------------------------------------------------------------------


def _make(folder: Folder) -> None:
    """Copy a whole folder. It gets its name when it is whole: half a copy would be taken for somebody's work."""
    folder.copy.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".copying-", dir=folder.copy.parent) as temporary:
        made = Path(temporary) / folder.copy.name
        kept = {}
        for original, copy in folder.files:
            name = copy.relative_to(folder.copy)
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            content = original.read_bytes()
            (made / name).write_bytes(_as_given(original, content, copy))
            kept[name.as_posix()] = _record(original, content, copy)
        (made / GIVEN).write_text(json.dumps(kept))
        made.rename(folder.copy)


def _write_new(original: Path, content: bytes, copy: Path) -> dict[str, Any]:
    copy.parent.mkdir(parents=True, exist_ok=True)
    _replace(copy, _as_given(original, content, copy))
    return _record(original, content, copy)


def _as_given(original: Path, content: bytes, copy: Path) -> bytes:
    return as_text(_notebook(original, content, copy)).encode() if copy.suffix == ".ipynb" else content


def _notebook(original: Path, content: bytes, copy: Path) -> Notebook:
    """A notebook as a learner gets it: as JupyterLab leaves it, so that it opens unchanged; its links led from its
    new place; and without the outputs that would tell the answer to a prediction.
    """
    made = notebook.parse(_led(content.decode(), original, copy))
    for cell in telling(made):
        cell |= {"outputs": [], "execution_count": None}
    made["metadata"] |= notebook.kernel_metadata()
    return made


def _record(original: Path, content: bytes, copy: Path) -> dict[str, Any]:
    record: dict[str, Any] = {"digest": _digest(content)}
    if copy.suffix == ".ipynb":
        record["cells"] = given(_notebook(original, content, copy))
    return record


def _led(text: str, original: Path, copy: Path) -> str:
    """Return a notebook's text for its copy: links in outputs and in Markdown lead to the same files as before.

    A link to a file of the course leads to the copy of that file, which is made when somebody opens it.
    """
    copies = dict(_all_copies())

    def moved(found: re.Match[str]) -> str:
        target = Path(os.path.normpath(original.parent / found[2]))
        if target not in copies and not found[2].startswith("../"):
            return found[0]  # a file that the lesson makes, or no link at all
        return found[1] + Path(os.path.relpath(copies.get(target, target), copy.parent)).as_posix()

    return re.sub(r'(href=\\"|\]\()([^"#:()\\\s]+)', moved, text)


def _all_copies() -> Iterator[tuple[Path, Path]]:
    for folder in (of_pages(), *map(of_chapter, chapters())):
        yield from folder.files


# --- bringing copies up to date ---------------------------------------------------------------------------------------


def _update(original: Path, content: bytes, copy: Path, before: dict[str, Any]) -> list[str]:
    """Bring one copy up to date; returns what could not be merged."""
    mine = copy.read_bytes()
    if _digest(mine) in (before["digest"], _digest(content)) and "cells" not in before:
        _replace(copy, content)
        return []
    if "cells" not in before:
        new = copy.with_name(f"{copy.stem}.course{copy.suffix}")
        _replace(new, content)
        return [
            f"you have changed this file, and it is as you left it; the course's new version is {new.name} beside it"
        ]
    now = _notebook(original, content, copy)
    try:
        own = notebook.parse(mine.decode())
    except (ValueError, KeyError, TypeError):
        new = copy.with_name(f"{copy.stem}.course.ipynb")
        _replace(new, as_text(now).encode())
        return [f"it cannot be read as a notebook; the course's new version is {new.name} beside it"]
    if any(cell["source"] != before["cells"].get(cell.get("id"), {}).get("source") for cell in own["cells"]):
        _back_up(copy, mine)
    merged, said = merge(before["cells"], own, now)
    _replace(copy, as_text(merged).encode())
    return said


def _back_up(copy: Path, content: bytes) -> None:
    stamp = datetime.now().strftime("%Y-%m-%d_%H%M%S_%f")
    backup = workspace() / "_backups" / f"{copy.stem}_{stamp}{copy.suffix}"
    backup.parent.mkdir(parents=True, exist_ok=True)
    backup.write_bytes(content)


def _rename_older(folder: Folder) -> None:
    """Give the notebooks of a copy that an older version of the course has made the names that they have now."""
    for original, copy in folder.files:
        older = folder.copy / original.name
        if older != copy and older.exists() and not copy.exists() and not (folder.copy / GIVEN).exists():
            older.rename(copy)


def _kept(folder: Folder) -> dict[str, dict[str, Any]]:
    """Return the note of what was given; empty if there is none to read, and then no update touches a file."""
    try:
        return json.loads((folder.copy / GIVEN).read_text())
    except (FileNotFoundError, ValueError):
        return {}


def _keep(folder: Folder, kept: dict[str, dict[str, Any]]) -> None:
    _replace(folder.copy / GIVEN, json.dumps(kept).encode())


def _replace(file: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    whole = file.with_name(f".{file.name}.{os.getpid()}")
    whole.write_bytes(content)
    whole.replace(file)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
