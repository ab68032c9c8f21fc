"""The text form of a notebook: cells parted by `# %%` lines, as VS Code and Spyder read them.

Mirrors: nothing in PyTorch: a format for the course's solved exercises, which are reviewed as text.
Leaves out: outputs, and every cell type but code and markdown.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

HEADER = re.compile(r"^# %%(?P<markdown> \[markdown\])?(?P<attributes>.*)$")


@dataclass
class Cell:
    """One cell: `kind` is `code` or `markdown`; `attributes` are the `key="value"` words of its header line."""

    kind: str
    source: str
    attributes: dict[str, str] = field(default_factory=dict)
    line: int = 0


def parse(text: str) -> list[Cell]:
    """Cells of `text`, in order; the text before the first header is the file's docstring, not a cell.

    Raises:
        ValueError: a header line holds a word that is not `key="value"`, or a markdown line is not a comment.
    """
    cells: list[Cell] = []
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        header = HEADER.match(line)
        if header is None:
            lines.append(line)
            continue
        _finish(cells, lines)
        lines = []
        kind = "markdown" if header["markdown"] else "code"
        cells.append(Cell(kind, "", _attributes(header["attributes"], number), number))
    _finish(cells, lines)
    return cells


def _attributes(text: str, number: int) -> dict[str, str]:
    words = shlex.split(text)
    if bad := [word for word in words if "=" not in word]:
        raise ValueError(f'line {number}: a cell header takes key="value" words, came {bad[0]!r}')
    return dict(word.split("=", 1) for word in words)


def _finish(cells: list[Cell], lines: list[str]) -> None:
    if not cells:
        return
    cell = cells[-1]
    if cell.kind == "markdown":
        lines = [_uncomment(line, cell.line + offset) for offset, line in enumerate(lines, start=1)]
    cell.source = "\n".join(lines).strip("\n")


def _uncomment(line: str, number: int) -> str:
    if line.strip() and not line.startswith("#"):
        raise ValueError(f"line {number}: a markdown cell is written in comments, came {line!r}")
    return line[2:] if line.startswith("# ") else line[1:]
