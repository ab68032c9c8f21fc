"""Symbols here and in PyTorch, as a table: the last section of a lesson, and what `%torch_source` shows.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: finding the names; that is `source_map`.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from course._tools import source_map
from course._tools.definitions import first_line, mirrors_of
from course._tools.listing import WIDE_TABLE, link, pytorch_links, with_code
from course._tools.source_table import TABLE


@dataclass(frozen=True)
class Symbol:
    """One row: `name` in `path` here, `there` in `there_path` in PyTorch; `more` is what PyTorch's does beyond ours."""

    path: str
    name: str
    there: str
    there_path: str
    more: str = ""
    line: int | None = None

    @property
    def place(self) -> str:
        return self.path if self.line is None else f"{self.path}:{self.line}"


class SymbolMap:
    """The rows as a table; in a terminal, as lines."""

    def __init__(self, rows: list[Symbol]) -> None:
        self.rows = rows

    def __repr__(self) -> str:
        return "\n".join(f"{row.name} in {row.place} | {row.there} in {row.there_path}" for row in self.rows)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._html()}

    def _html(self) -> str:
        cell = 'style="padding:3px 10px;text-align:left;vertical-align:top"'
        names = ["here", "in PyTorch 2.13", *(["what PyTorch does more"] if any(row.more for row in self.rows) else [])]
        head = "".join(f"<th {cell}>{name}</th>" for name in names)
        rows = ""
        for row in self.rows:
            columns = [
                f"<code>{escape(row.name)}</code><br>{link(row.path, row.place, line=row.line)}",
                f"<code>{escape(row.there)}</code><br>{pytorch_links(row.there_path)}",
                with_code(row.more),
            ]
            rows += "<tr>" + "".join(f"<td {cell}>{column}</td>" for column in columns[: len(names)]) + "</tr>"
        return f'<table style="{WIDE_TABLE}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def symbol_map(*rows: str | tuple[str, ...]) -> SymbolMap:
    """The map of a lesson.

    Args:
        rows: a name in the source map's table; or path here, name here, name in PyTorch, what PyTorch does more, and
            its path there where that is another than the file here mirrors.

    Raises:
        LookupError: the table has no such name, or a file here does not define it (any more).
    """
    return SymbolMap([_symbol(row) for row in rows])


def _symbol(asked: str | tuple[str, ...]) -> Symbol:
    if isinstance(asked, tuple):
        path, name, there, more, *elsewhere = asked
        row = Symbol(path, name, there, elsewhere[0] if elsewhere else mirrors_of(path), more)
    elif asked in TABLE:
        entry = TABLE[asked]
        row = Symbol(entry.path, entry.name, entry.there, entry.there_path or mirrors_of(entry.path), entry.more)
    else:
        raise LookupError(f"the source map's table has no row {asked!r}")
    first_line(row.path, row.name)  # a name that is gone is an error
    return row


def torch_source(name: str) -> SymbolMap:
    """The place of a symbol here, with its line, and its place in PyTorch.

    Raises:
        LookupError: nothing has that name; the message names what comes near.

    Example::

        >>> torch_source("nn.Linear").rows[0].there_path
        'torch/nn/modules/linear.py'
    """
    places = source_map.find(name)
    return SymbolMap([Symbol(each.path, each.name, each.there, each.there_path, line=each.line) for each in places])
