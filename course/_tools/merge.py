"""A new version of a notebook of the course, and the copy that a learner has written into: merged cell by cell.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: merging inside a cell. Where both have changed a cell, the learner's stays, and the course's is shown below.

A cell is known by its id. Three versions of a cell are compared: as it was given, as the learner has it, as it is now.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from course._tools.notebook import Notebook, new_cell

Cell = dict[str, Any]
Given = dict[str, dict[str, str]]
BESIDE = "new-version-of-"  # begins the id of a cell that shows the course's version of the learner's cell above
NOTICE = f"{BESIDE}this-notebook"
FENCE = "````"  # four, because the text of a cell may have a fence of three


def given(notebook: Notebook) -> Given:
    """Return what to keep of a notebook that a learner gets: of each cell the source and a digest of the outputs."""
    return {cell["id"]: {"source": cell["source"], "outputs": _digest(cell)} for cell in notebook["cells"]}


def merge(before: Given, mine: Notebook, now: Notebook) -> tuple[Notebook, list[str]]:
    """The course's notebook as it is now, with all that the learner has written; and what could not be merged.

    Args:
        before: `given` of the notebook from which the learner's copy was made.
        mine: the learner's copy.
        now: the course's notebook, as a new copy of it would be.
    """
    own = {cell["id"]: cell for cell in _with_ids(mine["cells"])}
    said: list[str] = []
    result: list[Cell] = []
    for cell in now["cells"]:
        was = before.get(cell["id"], {})
        if cell["id"] in own:
            result.append(_updated(was, own[cell["id"]], cell))
        elif cell["source"] != was.get("source"):  # new, or changed; what did not change, the learner has deleted
            result.append(cell)
    beside = [
        _beside(cell) for cell in now["cells"] if _both_changed(before.get(cell["id"]), own.get(cell["id"]), cell)
    ]
    notes = {cell["id"] for cell in beside}
    there, place = {cell["id"] for cell in result}, 0
    for identity, cell in own.items():
        if identity in there:
            place = _index(result, identity) + 1  # the learner's next cell belongs here
        elif identity not in notes and cell["source"].strip() not in ("", before.get(identity, {}).get("source")):
            result.insert(place, cell)
            place += 1
            if identity in before:
                said.append(f"the course has dropped a cell that you have changed; yours is kept: {_start(cell)}")
    for note in beside:
        identity = note["id"].removeprefix(BESIDE)
        result.insert(_index(result, identity) + 1, note)
        said.append(f"the course has a new version of a cell that you have changed: {_start(own[identity])}")
    if said:
        result = [cell for cell in result if cell["id"] != NOTICE]
        result.insert(1, new_cell("markdown", _notice(said), NOTICE))
    return {**now, "cells": result}, said


def _with_ids(cells: list[Cell]) -> list[Cell]:
    """The cells, each with an id that no other cell has."""
    seen: set[str] = set()
    out = []
    for position, cell in enumerate(cells):
        identity = cell.get("id", "")
        if not identity or identity in seen:
            identity = f"{identity[:50]}-{position}" if identity else f"mine-{position}"
        seen.add(identity)
        out.append({**cell, "id": identity})
    return out


def _index(cells: list[Cell], identity: str) -> int:
    return next(position for position, cell in enumerate(cells) if cell["id"] == identity)


def _both_changed(was: dict[str, str] | None, own: Cell | None, cell: Cell) -> bool:
    """Return whether the learner and the course have changed a cell, and not to the same text."""
    before = was["source"] if was else None
    return own is not None and cell["source"] != before and own["source"] not in (before, cell["source"])


def _updated(was: dict[str, str], own: Cell, cell: Cell) -> Cell:
    """A cell of the course as the learner gets it: with the learner's source, or with the outputs of the learner's run.

    The tags are the course's. What is folded is as the learner has left it, in a cell that the learner has used.
    """
    folds = {"jupyter": own["metadata"]["jupyter"]} if "jupyter" in own["metadata"] else {}
    used = {"metadata": {**{key: each for key, each in cell["metadata"].items() if key != "jupyter"}, **folds}}
    if own["source"] != was.get("source"):
        return {**own, **used}
    has_run = cell["source"] == was["source"] and "outputs" in own and _digest(own) != was["outputs"]
    return {**cell, **used, "outputs": own["outputs"], "execution_count": own["execution_count"]} if has_run else cell


def _beside(cell: Cell) -> Cell:
    language = "python" if cell["cell_type"] == "code" else "markdown"
    text = (
        "**The course has a new version of the cell above.** Yours is as you left it. To take the new version, copy "
        f"these lines into the cell above:\n\n{FENCE}{language}\n{cell['source']}\n{FENCE}"
    )
    return new_cell("markdown", text, f"{BESIDE}{cell['id']}")


def _notice(said: list[str]) -> str:
    lines = [f"- {text.partition(': ')[0]}: `{text.partition(': ')[2].replace('`', '')}`" for text in said]
    head = "**The course was updated, and some cells could not be merged.** All that you have written is here. Delete "
    return "\n".join([f"{head}this cell when you have looked:", "", *lines])


def _start(cell: Cell) -> str:
    return (cell["source"].strip().splitlines() or [""])[0][:80]


def _digest(cell: Cell) -> str:
    """A digest of what a cell shows, whatever the numbers of the runs."""
    outputs = [_joined({**each, "execution_count": None}) for each in cell.get("outputs", [])]
    return hashlib.sha256(json.dumps(outputs, sort_keys=True).encode()).hexdigest()[:16]


def _joined(value: Any) -> Any:
    """An output with its texts in one piece; some programs write a text as a list of its lines."""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return "".join(value)
    return {key: _joined(each) for key, each in value.items()} if isinstance(value, dict) else value
