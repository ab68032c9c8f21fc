"""Notebooks as plain data: read, write, and make cells of them.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: formats before 4.5, and validation (a test validates what is written). `nbformat` does all of that, but
importing it takes longer than starting a kernel, and every lesson imports these tools.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

Notebook = dict[str, Any]


def read(file: Path) -> Notebook:
    """The notebook in `file`, each cell's source as one string.

    Raises:
        ValueError: the file holds no notebook of format 4.
    """
    return parse(file.read_text())


def parse(text: str) -> Notebook:
    """Return the notebook in `text`, each cell's source as one string.

    Raises:
        ValueError: the text is not a notebook of format 4.
    """
    content = json.loads(text)
    if not isinstance(content, dict) or content.get("nbformat") != 4 or not isinstance(content.get("cells"), list):
        raise ValueError("it holds no notebook of format 4")
    for cell in content["cells"]:
        cell["source"] = "".join(cell["source"])
    return content


def kernel_metadata() -> dict[str, Any]:
    """Return what JupyterLab writes into a notebook that it opens with the kernel that `make` installs.

    A notebook that has these words already is not marked as changed.
    """
    return {
        "kernelspec": {"display_name": "Python 3 (reftorch)", "language": "python", "name": "python3"},
        "language_info": {
            "codemirror_mode": {"name": "ipython", "version": sys.version_info.major},
            "file_extension": ".py",
            "mimetype": "text/x-python",
            "name": "python",
            "nbconvert_exporter": "python",
            "pygments_lexer": f"ipython{sys.version_info.major}",
            "version": sys.version.split()[0],
        },
    }


def as_text(notebook: Notebook) -> str:
    """A notebook as it is written to disk: sources by line, so that a change of one line is a change of one line."""
    cells = [{**cell, "source": cell["source"].splitlines(keepends=True)} for cell in notebook["cells"]]
    return json.dumps({**notebook, "cells": cells}, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def new_cell(kind: str, source: str, identity: str, **metadata: Any) -> dict[str, Any]:
    """A cell without outputs; `kind` is `code` or `markdown`."""
    cell: dict[str, Any] = {"cell_type": kind, "id": identity, "metadata": metadata, "source": source}
    return {**cell, "execution_count": None, "outputs": []} if kind == "code" else cell


def new_notebook(cells: list[dict[str, Any]]) -> Notebook:
    """A notebook for the course's kernel."""
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
