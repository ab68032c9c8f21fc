"""Closes parts of a lesson for somebody who opens it, and finds stored outputs that tell an answer too early.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: the answers themselves, which `reveal` folds in its output.

A cell that only calls `show_source`, `trace`, `symbol_map` or a function that draws is the course's machinery: what is
to be read is the output, and the source would show the notes a second time. JupyterLab shows the first line of a closed
cell, so the cell begins with a comment that says what the cell shows.
"""

from __future__ import annotations

import ast
from typing import Any

from course._tools import tags
from course._tools.notebook import Notebook

SOURCE, TORCH, TRACE, PICTURE = "# Source: ", "# PyTorch's own source: ", "# Trace: ", "# Picture: "
TITLED = (SOURCE, TORCH, TRACE, PICTURE)
DRAWN = (
    "bars", "beside", "class_tree", "curve", "curves", "exec_info", "graph", "images", "kernel_row", "lanes",
    "loader_steps", "loop_order", "memory", "norm_cubes", "operands", "pointers", "process_tree", "promotion",
    "queue_steps", "registries", "route", "segments", "stream_lanes", "tree_map", "version_counters",
)  # fmt: skip
TITLES = {
    "show_source": SOURCE,
    "show_torch_source": TORCH,
    "trace": TRACE,
    "reveal": "# What came, beside your prediction",
    "summary": "# What you know now, and the answer to the question",
    "symbol_map": "# The names here, and in PyTorch",
    "start_page": "# The chapters, and how far you are",
    "glossary": "# The words of the course",
    "course_map": f"{PICTURE}the whole course",
    **dict.fromkeys(DRAWN, PICTURE),
}
LONGEST = 62  # characters of a title: more do not fit into a window of 1000 pixels with the list of files


def fold(lesson: Notebook) -> bool:
    """Close what is to be closed, and write the titles; returns whether a cell has changed."""
    names = _names_of_texts(lesson)
    changed = [_fold_source(cell, names) for cell in lesson["cells"] if cell["cell_type"] == "code"]
    return any(changed)


def telling(lesson: Notebook) -> list[dict[str, Any]]:
    """The cells between a reveal and the next text or prediction: their outputs show the answer in other forms.

    A learner's copy has none of these outputs until the learner runs the cells; the web site closes the outputs.
    """
    found, is_told = [], False
    for cell in lesson["cells"]:
        kinds = tags.of_cell(cell)
        is_told = is_told and cell["cell_type"] == "code" and "predict" not in kinds
        if is_told:
            found.append(cell)
        is_told = is_told or "reveal" in kinds
    return found


def _fold_source(cell: dict[str, Any], names: dict[str, str]) -> bool:
    call = machinery(cell["source"])
    title = title_of(call, names) if call is not None else ""
    first = cell["source"].split("\n", 1)[0]
    changed = False
    if title and first != title:
        is_ours = first.startswith(TITLED)
        if is_ours:
            cell["source"] = cell["source"].partition("\n")[2]
        if is_ours or not first.startswith("#"):  # a comment of another form is a title that the author has written
            cell["source"] = f"{title}\n{cell['source']}"
            changed = True
    is_folded = title or set(tags.of_cell(cell)) & set(tags.FOLDED)
    if is_folded and not cell["metadata"].get("jupyter", {}).get("source_hidden"):
        cell["metadata"].setdefault("jupyter", {})["source_hidden"] = True
        changed = True
    return changed


def machinery(source: str) -> ast.Call | None:
    """Return the last call of a cell of the course's machinery; None for a cell with a program of the reader."""
    *before, last = _statements(source) or [None]
    call = last.value if isinstance(last, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in TITLES:
        return None
    own = call.func.id in tags.FOLDED or all(map(_prepares, before))
    return call if own else None


def _names_of_texts(lesson: Notebook) -> dict[str, str]:
    """Return the variables of a lesson whose values are texts, such as `kernels` for the path of a file."""
    found = {}
    for cell in lesson["cells"]:
        for statement in _statements(cell["source"]) if cell["cell_type"] == "code" else []:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple | ast.Name):
                pairs = zip(_elements(statement.targets[0]), _elements(statement.value), strict=False)
                found |= {ast.unparse(name): value.value for name, value in pairs if _is_text(value)}
    return found


def _elements(value: ast.expr) -> list[ast.expr]:
    return value.elts if isinstance(value, ast.Tuple) else [value]


def _statements(source: str) -> list[ast.stmt]:
    """The statements of a cell; none of a cell with a magic, or with an error that it is to show."""
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError):
        return []


def _is_text(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _prepares(statement: ast.stmt) -> bool:
    """Return whether a statement imports a tool of the course, or gives a name to texts, as paths are."""
    if isinstance(statement, ast.ImportFrom):
        return (statement.module or "").split(".")[0] == "course"
    return isinstance(statement, ast.Assign) and all(map(_is_text, _elements(statement.value)))


def title_of(call: ast.Call, names: dict[str, str]) -> str:
    """The comment that says what a call shows; `names` has the texts that are given by a name."""
    assert isinstance(call.func, ast.Name)
    kind = TITLES[call.func.id]
    if kind not in TITLED:
        return kind
    # Of two texts of show_source the first is a path; a picture has its caption behind what it draws.
    told = [names.get(ast.unparse(each)) or (each.value if _is_text(each) else "") for each in call.args]
    drawn = ast.unparse(call.args[0]) if call.args else "this process"
    what = drawn if kind != PICTURE else f"{call.func.id.replace('_', ' ')} of {drawn}"
    whole = kind + next((text for text in reversed(told) if text), what).split("\n")[0]
    return whole if len(whole) <= LONGEST else f"{whole[:LONGEST].rpartition(' ')[0]} …"
