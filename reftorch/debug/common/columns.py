"""Outputs of several ranks side by side: columns of text in a terminal, and a table in a notebook.

Mirrors: nothing in PyTorch: its developers bring their own tools.
Left out: columns of different widths.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

PER_ROW = 4  # columns at most
TEXT_WIDTH, TEXT_COLUMN = 110, 50  # characters of a row, and of a column that may hold long lines
HTML_WIDTH, HTML_CHARACTERS, HTML_COLUMN = 1000, 130, 60  # pixels of a row; characters of a row and of a column
TABLE = "border-collapse:collapse;table-layout:fixed;width:100%;max-width:{width}px;font-size:12px;margin:4px 0"
PLACE = "text-align:left;vertical-align:top;padding:2px 10px 2px 0;width:{percent}%"
TEXT = "margin:0;padding:0;background:none;white-space:pre-wrap;overflow-wrap:anywhere;font-size:12px;line-height:1.4"
FAILED = "color:#cf222e"

Shown = dict[str, Any]  # by MIME type, as IPython displays an object; "failed" marks an error


@dataclass
class Column:
    """A title and what is below it."""

    title: str
    shown: list[Shown] = field(default_factory=list)
    failed: bool = False


def as_text(columns: Sequence[Column], enough: int = TEXT_COLUMN) -> str:
    """Return the columns as text. Columns that do not fit beside each other take another row.

    Args:
        columns: the columns.
        enough: how many characters of a longer line must fit into a line of a column.

    Example:
        >>> from reftorch.debug.common.columns import Column, as_text
        >>> print(as_text([Column("rank 0", [{"text/plain": "a"}]), Column("rank 1", [{"text/plain": "b"}])]))
        rank 0                                                | rank 1
        ----------------------------------------------------- | -----------------------------------------------------
        a                                                     | b
    """
    return "\n\n".join(_text_row(row) for row in _rows(columns, TEXT_WIDTH, enough))


def as_html(columns: Sequence[Column], enough: int = HTML_COLUMN) -> str:
    """Return the columns as tables, none wider than 1000 pixels; for ``enough`` see :func:`as_text`."""
    return "".join(_html_row(row) for row in _rows(columns, HTML_CHARACTERS, enough))


def _rows(columns: Sequence[Column], total: int, enough: int) -> list[Sequence[Column]]:
    """Divide the columns into rows: as many beside each other as leave room for the longest line, or ``enough``."""
    lines = [line for each in columns for one in each.shown for line in one.get("text/plain", "").split("\n")]
    needed = min(max([len(line) for line in lines], default=0), enough)
    fit = max(1, min(PER_ROW, len(columns), (total + 3) // (needed + 3)))
    rows = -(-len(columns) // fit)
    fit = -(-len(columns) // rows) if rows else 1  # five columns are three and two, not four and one
    return [columns[begin : begin + fit] for begin in range(0, len(columns), fit)]


def _text_row(row: Sequence[Column]) -> str:
    width = (TEXT_WIDTH + 3) // len(row) - 3
    columns = [[each.title, "-" * width, *_wrapped(_text_of(each), width)] for each in row]
    height = max(len(column) for column in columns)
    filled = [[*column, *[""] * (height - len(column))] for column in columns]
    return "\n".join(" | ".join(f"{cell:{width}}" for cell in line).rstrip() for line in zip(*filled, strict=True))


def _text_of(column: Column) -> str:
    texts = [each.get("text/plain", "") for each in column.shown]
    return "".join(text if text.endswith("\n") else f"{text}\n" for text in texts if text)


def _wrapped(text: str, width: int) -> Iterator[str]:
    for line in text.rstrip("\n").expandtabs().split("\n"):
        yield from textwrap.wrap(
            line, width, drop_whitespace=False, replace_whitespace=False, subsequent_indent="  "
        ) or [""]


def _html_row(row: Sequence[Column]) -> str:
    place = PLACE.format(percent=100 // len(row))
    head = "".join(
        f'<th style="{place}{f";{FAILED}" if each.failed else ""}">{html.escape(each.title)}</th>' for each in row
    )
    body = "".join(f'<td style="{place}">{"".join(map(_html_of, each.shown))}</td>' for each in row)
    return (
        f'<table style="{TABLE.format(width=HTML_WIDTH)}">'
        f'<tr style="background:none;border-bottom:1px solid currentColor">{head}</tr>'
        f'<tr style="background:none">{body}</tr></table>'
    )


def _html_of(shown: Shown) -> str:
    if "text/html" in shown:
        return f'<div style="overflow:auto">{shown["text/html"]}</div>'
    if "image/svg+xml" in shown:
        return f'<div style="overflow:auto">{shown["image/svg+xml"]}</div>'
    if "image/png" in shown:
        return f'<img style="max-width:100%" src="data:image/png;base64,{shown["image/png"]}"/>'
    colour = f";{FAILED}" if shown.get("failed") else ""
    return f'<pre style="{TEXT}{colour}">{html.escape(shown.get("text/plain", ""), quote=False)}</pre>'
