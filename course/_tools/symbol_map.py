"""The last section of a lesson: its symbols here and in PyTorch, and what PyTorch does more.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: finding the names in PyTorch; a row gives the name, the file's `Mirrors:` line gives the path.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from course._tools.source import link, mirrors_of, pytorch_links, show_source


@dataclass(frozen=True)
class Symbol:
    """One row: `name` in `path` here, `there` in PyTorch, and what PyTorch's does more."""

    path: str
    name: str
    there: str
    more: str


class SymbolMap:
    """The rows as a table; in a terminal, as lines."""

    def __init__(self, rows: list[Symbol]) -> None:
        for row in rows:
            show_source(row.path, row.name, nth=0)  # a name that is gone is an error
        self.rows = rows

    def __repr__(self) -> str:
        return "\n".join(f"{row.name} in {row.path} | {row.there} in {mirrors_of(row.path)}" for row in self.rows)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._html()}

    def _html(self) -> str:
        cell = 'style="padding:5px 12px;text-align:left;vertical-align:top"'
        head = "".join(f"<th {cell}>{name}</th>" for name in ("here", "in PyTorch 2.13", "what PyTorch does more"))
        rows = "".join(
            f"<tr><td {cell}><code>{escape(row.name)}</code><br>{link(row.path)}</td>"
            f"<td {cell}><code>{escape(row.there)}</code><br>{pytorch_links(mirrors_of(row.path))}</td>"
            f"<td {cell}>{escape(row.more)}</td></tr>"
            for row in self.rows
        )
        return (
            '<table style="font-size:13px;border-collapse:collapse">'
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )


def symbol_map(*rows: tuple[str, str, str, str]) -> SymbolMap:
    """Rows of path here, name here, name in PyTorch, and what PyTorch does more.

    Raises:
        LookupError: a file here does not define the name (any more).
    """
    return SymbolMap([Symbol(*row) for row in rows])
