"""The tags of a lesson's cells: what each kind of cell is for, and what the builder and the gates do with the kind.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: nbval's own tags, as `raises-exception`, which a cell may have besides.
"""

from __future__ import annotations

from typing import Any

from course._tools.notebook import Notebook

# In the order in which a lesson has them; `map` is what the lesson ends with.
TAGS = {
    "question": "a program that surprises, and the question that stays until the end",
    "predict": "predict(...): an answer before the output exists; two to five in a lesson",
    "reveal": "reveal(...): what came, beside the answer",
    "source": "show_source(...) or show_torch_source(...): at most 30 lines, with notes",
    "trace": "trace(...): the values of the locals, line by line",
    "break": "%%rebuild: the library changed in a scratch copy",
    "answer": "the answer to the question; late in the lesson, or in the part of the lesson that has the question",
    "real-torch": "%%real_torch: the same in PyTorch",
    "summary": "summary(...): five lines, and the answer to the question",
    "map": "symbol_map(...): the names here and in PyTorch",
}
# Their source would tell the answer, or repeat in Python what the output says in words.
FOLDED = ("reveal", "summary")
PREDICTIONS = (2, 5)
# The share of a lesson, or of its part, that comes before the answer: suspects and experiments.
ANSWER = 0.6
# The end of the heading that divides a lesson into two parts. A second question divides a lesson, too.
REST = "a place to rest"


def of_cell(cell: dict[str, Any]) -> list[str]:
    """The course's tags of a cell."""
    return [tag for tag in cell["metadata"].get("tags", []) if tag in TAGS]


def missing(lesson: Notebook) -> list[str]:
    """The tags that no cell of a lesson has."""
    there = {tag for cell in lesson["cells"] for tag in of_cell(cell)}
    return [tag for tag in TAGS if tag not in there]


def faults(lesson: Notebook) -> list[str]:
    """Return what a lesson lacks of its form: tags, their order, the number and the place of predictions."""
    found = [f"no cell is tagged {tag}" for tag in missing(lesson)]
    order = [tag for cell in lesson["cells"] for tag in of_cell(cell)]
    if order and order[0] != "question":
        found.append(f"the first tagged cell is {order[0]}, and a lesson opens with its question")
    if order and order[-1] != "map":
        found.append(f"the last tagged cell is {order[-1]}, and a lesson ends with the map")
    if "summary" in order and any(tag not in ("summary", "map") for tag in order[order.index("summary") :]):
        found.append("after the summary only the map comes")
    predictions = order.count("predict")
    if not PREDICTIONS[0] <= predictions <= PREDICTIONS[1]:
        found.append(f"{predictions} predictions, and a lesson has {PREDICTIONS[0]} to {PREDICTIONS[1]}")
    waiting = 0
    for tag in order:
        waiting += (tag == "predict") - (tag == "reveal")
        if waiting not in (0, 1):
            found.append("each prediction has one reveal, before the next prediction")
            break
    if waiting == 1:
        found.append("the last prediction has no reveal")
    return found + _early_answers(lesson)


def _early_answers(lesson: Notebook) -> list[str]:
    """Say which answers come too early: an answer that is told in the first half makes the rest a report."""
    cells = lesson["cells"]
    parts = [i for i, cell in enumerate(cells) if "question" in of_cell(cell) or _rests(cell)]
    bounds = [0, *parts, len(cells)]
    found = []
    for i, cell in enumerate(cells):
        if "answer" in of_cell(cell):
            begin, end = max(b for b in bounds if b <= i), min(b for b in bounds if b > i)
            before = max(i / len(cells), (i - begin) / (end - begin))
            if before < ANSWER:
                found.append(
                    f"the answer in cell {cell['id']} comes after {before:.0%}, and {ANSWER:.0%} come before it"
                )
    return found


def _rests(cell: dict[str, Any]) -> bool:
    lines = "".join(cell["source"]).splitlines()
    return cell["cell_type"] == "markdown" and any(line.startswith("#") and line.endswith(REST) for line in lines)
