"""A listing: some lines of a file, set as code, with numbered notes beside the lines that matter.

Mirrors: nothing in PyTorch: the course shows source, it never quotes it.
Leaves out: finding the lines; that is `source`.
"""

from __future__ import annotations

import hashlib
import html
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CppLexer, PythonLexer

from course._tools.layout import on_disk

PYTORCH = "https://github.com/pytorch/pytorch/blob/v2.13.0"
# A listing is light in a dark JupyterLab too, so everything in a listing names its colour: no theme may choose one.
BOX = (
    "border:1px solid #c9d1d9;border-radius:6px;background:#fff;color:#1f2328;max-width:100%;overflow-x:auto;"
    "margin:4px 0"
)
HEAD = (
    "padding:6px 10px;border-bottom:1px solid #d8dee4;background:#f6f8fa;color:#1f2328;font-size:12px;overflow:hidden"
)
MONO = "font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace"
INK = "color:#1f2328"
CODE = f"{MONO};font-size:12px;line-height:1.45;white-space:pre;background:none;border:0"
# The style of a <pre> in which a line that is wider than its column goes on in a line below, so that nobody scrolls
# sideways to read the line. Code is in <pre>, because programs that rewrite the HTML (nbconvert, and sites that
# remove styles) keep runs of spaces only there. JupyterLab's <pre> breaks words, and its text is white in the dark.
BREAKS = "overflow-wrap:anywhere;word-break:normal"
WRAPS = f"white-space:pre-wrap;{BREAKS}"
WRAPPED = f"{CODE.replace('white-space:pre', 'white-space:pre-wrap')};{BREAKS};{INK}"
# JupyterLab gives all columns of a table one width, and breaks no long name: a table would be wider than its cell.
WIDE_TABLE = "font-size:13px;border-collapse:collapse;table-layout:auto;width:100%;overflow-wrap:anywhere"
BADGE = (
    "display:inline-block;min-width:9px;padding:0 3px;border-radius:8px;background:#0550ae;color:#fff;"
    "font:bold 10px/13px system-ui,sans-serif;text-align:center"
)
WORD = f"{MONO};background:#eff1f3;color:#1f2328"
LIT = "background:#fff8c5"
DIMMED = "opacity:.45"
GAP = "…"
NARROWEST = 60  # characters of code beside the notes; less is not worth a column of its own
SIDES = 64  # pixels: the margins of the three columns, and a badge
DEEPEST = 40  # characters: the deepest indentation that is kept in the text as spaces


class Row(NamedTuple):
    """One line of a listing: its number, its badge and its code, both as HTML, and how the code is set.

    Args:
        width: the characters of the code, where a reader is to read the line; 0 where the line is pale.
        indent: the spaces that the line begins with; where the line is too wide, it goes on four further to the right.
        length: the characters after these spaces.
    """

    number: str
    badge: str
    code: str
    style: str = ""
    width: int = 0
    indent: int = 0
    length: int = 0


class Note(NamedTuple):
    """A remark on the lines from `first` to `last`."""

    first: int
    last: int
    text: str


@dataclass(frozen=True)
class Listing:
    """A range of lines of one file of the checkout, shown highlighted in a notebook.

    Args:
        path, name: the file, and what the listing shows of it.
        first, last: the range, both ends included; `text` is its text.
        mirrors: the file of PyTorch.
        asked: the arguments by which `show_source` finds the same lines again.
        notes: the notes, in the order of their numbers.
        lit: lines that are highlighted though they have no note.
        skipped: ranges that are left out and shown as one line `…`.
        dim: whether the lines that are not lit are pale.
    """

    path: str
    name: str
    first: int
    last: int
    text: str
    mirrors: str
    asked: dict[str, Any]
    notes: tuple[Note, ...] = ()
    lit: frozenset[int] = frozenset()
    skipped: tuple[tuple[int, int], ...] = ()
    dim: bool = False

    def __repr__(self) -> str:
        lines = self.text.splitlines()
        notes = [
            f"  ({number}) {lines[note.first - self.first].strip()}\n      {note.text}"
            for number, note in enumerate(self.notes, start=1)
        ]
        return "\n".join([f"{self.name} in {self.path}", beside(self.mirrors), *notes])

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def numbers(self) -> list[int]:
        """The numbers of the lines that are shown."""
        out = {number for begin, end in self.skipped for number in range(begin, end + 1)}
        return [number for number in range(self.first, self.last + 1) if number not in out]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, str], dict[str, Any]]:
        listing = {"asked": self.asked, "digest": self.digest, "lines": len(self.numbers)}
        return {"text/plain": repr(self), "text/html": self._html()}, {"reftorch": {"listing": listing}}

    def _html(self) -> str:
        return f"<!-- listing -->{self._box(self._header())}<!-- /listing -->"

    def _header(self) -> str:
        return (
            f"<b>{link(self.path, f'{self.path}:{self.first}', line=self.first)}</b>"
            f" &nbsp; {html.escape(self.name)}"
            f'<span style="float:right">{_aside(self.mirrors)}</span>'
        ).replace("<a ", '<a style="color:#0550ae" ')

    def _box(self, header: str) -> str:
        lines = self._outdented()
        indents = [len(line) - len(line.lstrip()) for line in lines]
        shown = [line[max(0, indent - DEEPEST) :] for line, indent in zip(lines, indents, strict=True)]
        code = highlighted("\n".join(shown), self.path)
        noted = {number for note in self.notes for number in range(note.first, note.last + 1)} | self.lit
        badges = {note.first: number for number, note in enumerate(self.notes, start=1)}
        rows: list[Row] = []
        before = self.first - 1
        for number in self.numbers:
            if number != before + 1:
                rows.append(Row(GAP, "", f"{GAP} {number - before - 1} lines", "color:#8c959f"))
            line, indent = lines[number - self.first], indents[number - self.first]
            style = LIT if number in noted else DIMMED if self.dim else ""
            badge = f'<span style="{BADGE}">{badges[number]}</span>' if number in badges else ""
            width, text = len(line) if style != DIMMED else 0, code[number - self.first] or " "
            rows.append(Row(str(number), badge, text, style, width, indent, len(line) - indent))
            before = number
        return box(header, rows, [note.text for note in self.notes])

    def _outdented(self) -> list[str]:
        """Return the lines without the indentation that all shown lines have in common.

        The backslashes of a macro, which are in a column far to the right, are moved to the ends of their lines.
        """
        lines = [re.sub(r" +\\$", r" \\", line) for line in self.text.split("\n")]
        seen = [line for line in (lines[number - self.first] for number in self.numbers) if line.strip()]
        margin = min((len(line) - len(line.lstrip()) for line in seen), default=0)
        return [line[min(margin, len(line) - len(line.lstrip())) :] for line in lines]


def box(header: str, rows: Sequence[Row], notes: Sequence[str]) -> str:
    """A frame with a header, lines of code with their numbers and badges, and notes beside the code.

    The notes move below the code where the widest line that a reader is to read does not fit beside them.
    """
    digits = max(len(row.number) for row in rows)
    widest = max(NARROWEST, *(row.width for row in rows)) + digits
    aside = "".join(
        f'<div style="display:flex;gap:7px;margin:0 0 7px;break-inside:avoid"><span>'
        f'<span style="{BADGE}">{number}</span></span><span>{in_box(text)}</span></div>'
        for number, text in enumerate(notes, start=1)
    )
    # Below the code the border at the top of the notes parts them from the code; beside the code the one at the left.
    return (
        f'<div style="{BOX}"><div style="{HEAD}">{header}</div>'
        '<div style="display:flex;flex-wrap:wrap">'
        f'<pre style="{WRAPPED};flex:3 1 calc({widest}ch + {SIDES}px);min-width:0;margin:0;padding:8px 0">'
        + "".join(_row_html(row, digits, bool(notes)) for row in rows)
        + "</pre>"
        + (
            '<div style="flex:1 1 230px;margin:-1px 0 0 -1px;padding:9px 12px 2px;border:solid #d8dee4;'
            f'border-width:1px 0 0 1px;columns:340px;font-size:13px;line-height:1.4;color:#1f2328">{aside}</div>'
            if notes
            else ""
        )
        + "</div></div>"
    )


def _row_html(row: Row, digits: int, has_badges: bool) -> str:
    hanging = min(row.indent, DEEPEST) + 4
    padding = f"{hanging}ch"
    if row.indent > DEEPEST:
        # The parts of an expression may be aligned far to the right. In a narrow column such a line would begin beyond
        # the edge, because spaces at the beginning of a line do not wrap. So it begins as far to the left as is needed
        # to have its characters, the number of the line and the margins in the column.
        padding = f"max(8ch,min({row.indent + 4}ch,calc(100% - {row.length + 20}ch)))"
    badge = f'<span style="flex:0 0 16px;user-select:none">{row.badge}</span> ' if has_badges else ""
    style = f";{row.style}" if row.style else ""
    # A flex container does not show the spaces between its parts; they part the number from the code without styles.
    return (
        f'<div style="display:flex"><span style="flex:0 0 {digits}ch;box-sizing:content-box;padding:0 10px;'
        f'color:#8c959f;text-align:right;user-select:none">{row.number}</span> {badge}'
        f'<span style="flex:1;min-width:0;margin:0 10px;padding-left:{padding};text-indent:-{hanging}ch;color:#1f2328'
        f'{style}">{row.code}</span></div>'
    )


def highlighted(text: str, path: str) -> list[str]:
    """The lines of `text` as HTML, set as code of the language that the file's name tells."""
    lexer = PythonLexer(stripnl=False) if path.endswith(".py") else CppLexer(stripnl=False)
    return highlight(text, lexer, HtmlFormatter(noclasses=True, nowrap=True, style="friendly")).split("\n")


def link(path: str, label: str | None = None, *, line: int | None = None) -> str:
    """A link to a file of the checkout from the notebook at hand; JupyterLab opens it at the line."""
    target = os.path.relpath(on_disk(path), Path.cwd())
    fragment = "" if line is None else f"#line={line - 1}"
    return f'<a href="{target}{fragment}">{label or path}</a>'


def with_code(text: str) -> str:
    """`text` as HTML: text between backquotes is set as code, and text between asterisks is stressed."""
    marked = r"`(?P<code>[^`]+)`|(?<![\w*])\*(?P<stressed>[^\s*`][^*`]*)\*(?![\w*])"
    return re.sub(
        marked, lambda m: f"<code>{m['code']}</code>" if m["code"] else f"<em>{m['stressed']}</em>", html.escape(text)
    )


def in_box(text: str) -> str:
    """`text` as HTML for a box, which is light in every theme: text between backquotes is set as light code."""
    return with_code(text).replace("<code>", f'<code style="{WORD}">')


def is_path(mirrored: str) -> bool:
    """Return whether what a `Mirrors:` line says is a place in PyTorch."""
    return not mirrored.startswith("nothing in PyTorch")


def beside(mirrors: str) -> str:
    """A `Mirrors:` line in words."""
    return f"in PyTorch: {mirrors}" if is_path(mirrors) else mirrors


def _aside(mirrors: str) -> str:
    return f"PyTorch 2.13: {pytorch_links(mirrors)}" if is_path(mirrors) else html.escape(mirrors.replace("`", ""))


def pytorch_links(mirrors: str) -> str:
    """Return what a `Mirrors:` line says, each path a link to PyTorch's source."""
    mirrors = mirrors.replace("`", "")  # a docstring marks the names of code
    if not is_path(mirrors):
        return html.escape(mirrors)
    return re.sub(
        r"[\w./-]+/[\w.-]+\.\w+|setup\.py|CMakeLists\.txt",
        lambda found: f'<a href="{PYTORCH}/{found[0]}">{found[0]}</a>',
        html.escape(mirrors),
    )
