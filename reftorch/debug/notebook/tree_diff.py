"""The difference of two call trees.

Mirrors: nothing in PyTorch, whose profiler compares tables of times.
Left out: calls that moved: they are shown where they were and where they are.
"""

from __future__ import annotations

import difflib
import html
from collections.abc import Iterator
from typing import Any

from reftorch.debug.common.display import DIM, STYLE
from reftorch.debug.notebook.tree import Node, label, place

COLOURS = {"-": "var(--jp-error-color1,#b71c1c)", "+": "var(--jp-success-color1,#1b5e20)"}


class TreeDiff:
    """The rows that only one of two trees has, marked with - and +, with a few rows around them."""

    def __init__(self, before: list[list[Node]], after: list[list[Node]], context: int) -> None:
        old, new = ([*rows(threads)] for threads in (before, after))
        hunks = difflib.unified_diff(old, new, n=context, lineterm="")
        self.rows = [row if not row.startswith("@@") else "..." for row in list(hunks)[2:]]

    def __bool__(self) -> bool:
        """Whether the trees differ."""
        return bool(self.rows)

    def __str__(self) -> str:
        return "\n".join(row.rstrip() for row in self.rows) or "The two trees are the same."

    __repr__ = __str__

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        body = "\n".join(
            f'<span style="color:{COLOURS[row[0]]}">{html.escape(row, quote=False)}</span>'
            if row[0] in COLOURS
            else f'<span style="{DIM}">{html.escape(row, quote=False)}</span>'
            for row in str(self).split("\n")
        )
        return f'<div style="{STYLE}"><pre style="margin:2px 0;background:none">{body}</pre></div>'


def rows(threads: list[list[Node]]) -> Iterator[str]:
    for number, nodes in enumerate(threads):
        if number:
            yield f"thread {number + 1}"
        yield from indented(nodes, "")


def indented(nodes: list[Node], indent: str) -> Iterator[str]:
    for node in nodes:
        yield f"{indent}{label(node)}  {place(node)}"
        yield from indented(node.children, indent + "  ")
