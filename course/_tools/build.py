"""`python -m course._tools build`: make the exercise notebooks from their source, run the lessons, tell what changed.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: text of a lesson, which is written in the lesson; only its outputs are made here.
"""

from __future__ import annotations

import configparser
import os
import re
import tempfile
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from rich.console import Console

from course._tools import folds, real_torch
from course._tools.exercises import learners_notebook
from course._tools.layout import ROOT, Chapter, CourseError, shown
from course._tools.notebook import as_text

Busy = Callable[[Console, str], AbstractContextManager[Any]]
SANITIZE = Path(__file__).with_name("nbval.cfg")


def build(
    console: Console, wanted: list[Chapter], pages: list[Path], busy: Busy, *, look: bool, run: bool = True
) -> int:
    """Bring chapters and pages up to date, or only look; returns 1 where `look` found something that is not.

    Without `run`, what needs no kernel is brought up to date: exercise notebooks, and the folds of lessons and pages.
    """
    changed = False
    bring = partial(_lesson, console, busy=busy, look=look) if run else partial(_folds, console, look=look)
    for chapter in wanted:
        changed |= _exercises(console, chapter, look)
        changed |= bring(chapter.lesson)
    for page in pages:
        changed |= bring(page)
    return 1 if changed and look else 0


def _exercises(console: Console, chapter: Chapter, look: bool) -> bool:
    made = as_text(learners_notebook(chapter))
    current = chapter.exercises.read_text() if chapter.exercises.exists() else ""
    _tell(console, chapter.exercises, [] if made == current else ["made from _solutions/exercises.py"], look)
    if made != current and not look:
        chapter.exercises.write_text(made)
    return made != current


def _folds(console: Console, file: Path, look: bool) -> bool:
    lesson = nbformat.read(file, as_version=4)
    changed = folds.fold(lesson)
    _tell(console, file, ["cells folded"] if changed else [], look)
    if changed and not look:
        file.write_text(nbformat.writes(lesson) + "\n")
    return changed


def _lesson(console: Console, file: Path, busy: Busy, look: bool) -> bool:
    stored = nbformat.read(file, as_version=4)
    with busy(console, f"running {shown(file)}"):
        made = executed(file, store=not look)
    changes = ["cells folded"] if folds.fold(made) else []
    changes += [
        f"cell {position}: {(cell.source.splitlines() or [''])[0]}"
        for position, (cell, before) in enumerate(zip(made.cells, stored.cells, strict=True))
        if cell.cell_type == "code" and _comparable(cell, look) != _comparable(before, look)
    ]
    _tell(console, file, changes, look)
    if changes and not look:
        file.write_text(nbformat.writes(made) + "\n")
    return bool(changes)


def executed(file: Path, *, store: bool = False) -> NotebookNode:
    """The notebook run from top to bottom in a fresh kernel, as a learner with no progress would run it.

    Args:
        file: the notebook.
        store: whether what `%%real_torch` cells print is kept for those who have no torch.

    Raises:
        CourseError: a cell raised, and is not tagged `raises-exception`.
    """
    notebook = nbformat.read(file, as_version=4)
    with tempfile.TemporaryDirectory() as empty:
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=180,
            record_timing=False,
            extra_arguments=["--log-level=ERROR"],
            coalesce_streams=True,
            resources={"metadata": {"path": str(file.parent)}},
        )
        try:
            storing = {real_torch.STORING: "1"} if store else {}
            client.execute(env={**os.environ, "REFTORCH_COURSE_WORK": empty, **storing})
        except CellExecutionError as error:
            cell = error.traceback.split("------------------")[1].strip()
            raise CourseError(f"{shown(file)}: a cell raised {error.ename}: {error.evalue}\n\n{cell}") from None
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = without_the_place(cell.outputs)
    if store:
        _forget_cells_that_are_gone(notebook, file.parent)
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


# gdb cuts long strings: "/home/me"... are the first letters of a path.
CUT_PATH = re.compile(r'(?P<quote>"|&quot;)(?P<letters>/[^"&\n]*)(?P=quote)\.\.\.')


def without_the_place(output: Any) -> Any:
    """The output without the first letters of the checkout's path, which gdb shows of a path that it has cut.

    Whole paths are shortened by `scrub` of `reftorch.debug`, which does not know a path by its first letters.
    """
    if isinstance(output, list):
        return [without_the_place(part) for part in output]
    if isinstance(output, dict):
        return type(output)({key: without_the_place(part) for key, part in output.items()})
    return CUT_PATH.sub(_unplaced, output) if isinstance(output, str) else output


def _unplaced(found: re.Match[str]) -> str:
    is_of_the_checkout = f"{ROOT}/".startswith(found["letters"])
    return f"{found['quote']}...{found['quote']}" if is_of_the_checkout else found[0]


def _forget_cells_that_are_gone(lesson: NotebookNode, folder: Path) -> None:
    kept = real_torch.stored_in(folder)
    there = real_torch.keys_in([cell.source for cell in lesson.cells])
    if set(kept) - there:
        real_torch.write_store(folder, {key: kept[key] for key in kept if key in there})


def _tell(console: Console, file: Path, changes: Iterable[str], look: bool) -> None:
    changes = list(changes)
    state = ("not up to date" if look else "changed") if changes else "up to date"
    console.print(f"{shown(file)}: {state}")
    for change in changes:
        console.print(f"  {change}", markup=False)


def _comparable(cell: NotebookNode, look: bool) -> list[Any]:
    """A cell's outputs without what differs from run to run; nothing where the cell's output is not compared."""
    if "nbval-ignore-output" in cell.metadata.get("tags", []):
        return [bool(cell.outputs)]
    patterns = _patterns(look)
    outputs: list[Any] = []
    for output in cell.outputs:
        if output.output_type == "stream":
            outputs.append((output.name, _scrubbed(output.text, patterns)))
        elif output.output_type == "error":
            outputs.append((output.ename, _scrubbed(output.evalue, patterns)))
        else:
            data = {kind: _scrubbed(str(value), patterns) for kind, value in output.data.items()}
            outputs.append((output.output_type, data))
    return outputs


# Patterns of nbval.cfg for the numbers of source lines.
LINE_NUMBERS = ("listing", "place", "place in a link", "numbered line")


def _patterns(look: bool) -> list[tuple[str, str]]:
    """Return what nbval scrubs.

    Line numbers are scrubbed only for a look: an edit above a line makes no lesson wrong, but a lesson that is built
    shows the numbers of today. A listing is always compared with its numbers.
    """
    config = configparser.RawConfigParser()
    config.read_string(SANITIZE.read_text())
    kept = LINE_NUMBERS[:1] if look else LINE_NUMBERS
    return [(config[name]["regex"], config[name]["replace"]) for name in config.sections() if name not in kept]


def _scrubbed(text: str, patterns: list[tuple[str, str]]) -> str:
    for regex, replacement in patterns:
        text = re.sub(regex, replacement, text)
    return text
