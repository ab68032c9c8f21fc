"""A table that a terminal shows as aligned text and a notebook as HTML.

Mirrors: nothing in PyTorch, whose tools print with other packages.
Left out: wrapping; a cell is one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

CELL = "padding:2px 12px 2px 0;vertical-align:top;text-align:{align};font-family:var(--jp-code-font-family,monospace)"
MARKED = "color:#cf222e;font-weight:600"


@dataclass
class Table:
    """Rows under headers.

    Args:
        headers: the titles of the columns; if all are empty, the line is omitted.
        rows: cells of text or numbers; numbers are aligned to the right.
        caption: a line above the table.
        notes: lines below it.
        marked: indices of the rows that are highlighted.
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    notes: list[str] = field(default_factory=list)
    marked: set[int] = field(default_factory=set)

    def _texts(self) -> list[list[str]]:
        return [[text_of(cell) for cell in row] for row in self.rows]

    def _right(self, column: int) -> bool:
        cells = [row[column] for row in self.rows if row[column] not in ("", None)]
        return bool(cells) and all(isinstance(cell, (int, float)) for cell in cells)

    def __str__(self) -> str:
        texts, width = self._texts(), range(len(self.headers))
        widths = [max(len(row[i]) for row in [list(self.headers), *texts]) for i in width]
        right = [self._right(i) for i in width]

        def line(cells: Sequence[str]) -> str:
            padded = [cells[i].rjust(widths[i]) if right[i] else cells[i].ljust(widths[i]) for i in width]
            return "  ".join(padded).rstrip()

        rule = line(["-" * w if header else "" for header, w in zip(self.headers, widths, strict=True)])
        head = [line(self.headers), rule] if any(self.headers) and self.rows else []
        return "\n".join([*filter(None, [self.caption]), *head, *map(line, texts), *self.notes])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        aligned = ["right" if self._right(i) else "left" for i in range(len(self.headers))]
        styles = [CELL.format(align=align) for align in aligned]

        def line(tag: str, cells: Iterable[str], extra: str = "") -> str:
            inside = "".join(
                f'<{tag} style="{style}">{spaced(cell)}</{tag}>' for style, cell in zip(styles, cells, strict=True)
            )
            return f'<tr style="background:none;{extra}">{inside}</tr>'

        head = line("th", self.headers, "border-bottom:1px solid currentColor") if any(self.headers) else ""
        body = "".join(line("td", row, MARKED if i in self.marked else "") for i, row in enumerate(self._texts()))
        table = f'<table style="border-collapse:collapse;font-size:12px;margin:4px 0">{head}{body}</table>'
        above = f"<div><b>{spaced(self.caption)}</b></div>" if self.caption else ""
        below = "".join(f'<div style="font-size:12px">{spaced(note)}</div>' for note in self.notes)
        return above + (table if self.rows else "") + below


class Report:
    """The base class of results that are shown as tables; a subclass returns the tables."""

    def tables(self) -> list[Table]:
        raise NotImplementedError(f"{type(self).__name__}.tables")

    def __str__(self) -> str:
        return "\n\n".join(str(table) for table in self.tables())

    def __repr__(self) -> str:
        return str(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in self.tables())


def text_of(cell: Any) -> str:
    """Return the text of a cell: numbers with four digits, counts with separators."""
    if cell is None:
        return ""
    if isinstance(cell, bool) or not isinstance(cell, (int, float)):
        return str(cell)
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.4g}"


def spaced(text: str) -> str:
    """Return escaped HTML that keeps leading spaces, because they show the nesting."""
    indent = len(text) - len(text.lstrip(" "))
    return "&nbsp;" * indent + escape(text[indent:], quote=False)


def shape_text(shape: Iterable[int]) -> str:
    return f"[{', '.join(str(int(size)) for size in shape)}]"


def dtype_text(tensor: Any) -> str:
    return str(tensor.dtype).rpartition(".")[2]


def bytes_text(count: int) -> str:
    """Return a number of bytes as text: 1536 is '1.5 KiB'."""
    if abs(count) < 1024:
        return f"{count} B"
    power = min((abs(count).bit_length() - 1) // 10, 3)
    return f"{count / 1024**power:.1f} {('B', 'KiB', 'MiB', 'GiB')[power]}"


def counted(count: int, what: str, many: str = "") -> str:
    """Return a number with its noun: '3 storages', '1 storage'."""
    return f"{count:,} {what if count == 1 else many or f'{what}s'}"
