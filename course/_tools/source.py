"""`show_source`: the lines of reftorch as they are now, and where PyTorch keeps the same thing.

Mirrors: nothing in PyTorch: the course shows source, it never quotes it.
Leaves out: PyTorch's text itself; a link leads to it.
"""

from __future__ import annotations

import ast
import hashlib
import html
import os
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CppLexer, PythonLexer

from course._tools import cxx
from course._tools.layout import ROOT

PYTORCH = "https://github.com/pytorch/pytorch/blob/v2.13.0"
MIRRORS = re.compile(r"^(?:// ?|# ?)?Mirrors: *(?P<what>.+?)\.?$", re.M)
# How a list of paths goes on in the next line: the end of a bracket, or one more path after a comma.
REST_OF_BRACKET = re.compile(r"\s*(?://)?\s*([^()]*\),?)")
ONE_MORE_PATH = re.compile(r"\s*(?://)?\s*([\w.-]+/[\w./-]+\w(?: \([^()]*\))?,?)")


@dataclass(frozen=True)
class Listing:
    """A range of lines of one file of the checkout, shown highlighted in a notebook."""

    path: str
    name: str
    first: int
    last: int
    text: str
    mirrors: str
    asked: dict[str, Any]

    def __repr__(self) -> str:
        return f"{self.name} in {self.path}\n{_beside(self.mirrors)}"

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, str], dict[str, Any]]:
        listing = {"asked": self.asked, "digest": self.digest}
        return {"text/plain": repr(self), "text/html": self._html()}, {"reftorch": {"listing": listing}}

    def _html(self) -> str:
        lexer = PythonLexer(stripnl=False) if self.path.endswith(".py") else CppLexer(stripnl=False)
        code = highlight(self.text, lexer, HtmlFormatter(noclasses=True, nowrap=True, style="friendly"))
        numbers = "\n".join(str(number) for number in range(self.first, self.last + 1))
        # A listing is light in a dark JupyterLab too, so all that is in it says its colour: no theme may.
        header = (
            f"<b>{link(self.path, f'{self.path}:{self.first}', line=self.first)}</b>"
            f" &nbsp; {html.escape(self.name)}"
            f'<span style="float:right">{_aside(self.mirrors)}</span>'
        ).replace("<a ", '<a style="color:#0550ae" ')
        column = "margin:0;padding:8px 10px;font-size:12px;line-height:1.45;white-space:pre;background:none;border:0"
        return (
            '<!-- listing --><div style="border:1px solid #c9d1d9;border-radius:6px;background:#fff;color:#1f2328;'
            'max-width:100%;overflow-x:auto">'
            '<div style="padding:6px 10px;border-bottom:1px solid #d8dee4;background:#f6f8fa;font-size:12px;'
            'overflow:hidden">'
            f"{header}</div>"
            '<div style="display:flex">'
            f'<pre style="{column};color:#8c959f;text-align:right;user-select:none">{numbers}</pre>'
            f'<pre style="{column};color:#1f2328;flex:1">{code}</pre></div></div><!-- /listing -->'
        )


def show_source(
    path: str, name: str | None = None, *, first: str | None = None, last: str | None = None, nth: int | None = None
) -> Listing:
    """The definition of `name` in `path`, or the lines from the one with `first` to the next one with `last`.

    Args:
        path: a file of the checkout, from its root.
        name: a function, class, method (`Module.__call__`, `Dispatcher::call`) or the name a macro block opens with.
        first, last: text by which a range's first and last lines are known; `last` alone ends a definition early.
        nth: which one, counted from 0, where several definitions have the name.

    Raises:
        FileNotFoundError: there is no such file.
        LookupError: nothing there has the name or the text, or several have it and `nth` does not choose.

    Example::

        >>> show_source("course/_tools/layout.py", "Chapter.number")
        Chapter.number in course/_tools/layout.py
        nothing in PyTorch: PyTorch ships no course
    """
    file = ROOT / path
    if not file.is_file():
        raise FileNotFoundError(f"{path}: no such file in the checkout")
    text = file.read_text()
    lines = text.splitlines()
    begin, end = (1, len(lines)) if name is None else _definition(path, text, name, nth)
    if first is not None:
        begin = _line_with(path, lines, first, begin, end)
    if last is not None:
        end = _line_with(path, lines, last, begin, end)
    shown_name = name or first or file.name
    asked = {"path": path, "name": name, "first": first, "last": last, "nth": nth}
    return Listing(path, shown_name, begin, end, "\n".join(lines[begin - 1 : end]), mirrors_of(path), asked)


def mirrors_of(path: str) -> str:
    """What the `Mirrors:` line at the head of a file says, with the lines that go on with it."""
    with (ROOT / path).open() as file:
        head = "".join(islice(file, 60))  # a docstring may come first
    found = MIRRORS.search(head)
    if found is None:
        raise LookupError(f"{path} opens without a `Mirrors:` line")
    what, position = found["what"], found.end()
    while what.count("(") > what.count(")") or what.endswith(","):
        pattern = ONE_MORE_PATH if what.endswith(",") and what.count("(") == what.count(")") else REST_OF_BRACKET
        more = pattern.match(head, position)
        if more is None:
            break
        what, position = f"{what} {more[1]}", more.end()
    return what.rstrip(",.")


def _definition(path: str, text: str, name: str, nth: int | None) -> tuple[int, int]:
    found = _python_definitions(text, name) if path.endswith(".py") else cxx.definitions(text, name)
    if not found:
        raise LookupError(f"{path}: no definition of {name!r}")
    if nth is None and len(found) > 1:
        where = ", ".join(str(begin) for begin, _ in found)
        raise LookupError(f"{path}: {name!r} is defined {len(found)} times, in lines {where}; choose with nth=")
    return found[nth or 0]


def _python_definitions(text: str, name: str) -> list[tuple[int, int]]:
    scopes: list[ast.AST] = [ast.parse(text)]
    for part in name.split("."):
        scopes = [
            node
            for scope in scopes
            for node in ast.iter_child_nodes(scope)
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)) and node.name == part
        ]
    return [(min([n.lineno, *(d.lineno for d in n.decorator_list)]), n.end_lineno) for n in scopes]


def _line_with(path: str, lines: list[str], text: str, begin: int, end: int) -> int:
    for number in range(begin, end + 1):
        if text in lines[number - 1]:
            return number
    raise LookupError(f"{path}: no line from {begin} to {end} holds {text!r}")


def link(path: str, label: str | None = None, *, line: int | None = None) -> str:
    """A link to a file of the checkout from the notebook at hand; JupyterLab opens it at the line."""
    target = os.path.relpath(ROOT / path, Path.cwd())
    fragment = "" if line is None else f"#line={line - 1}"
    return f'<a href="{target}{fragment}">{label or path}</a>'


def with_code(text: str) -> str:
    """`text` as HTML: what stands between backquotes is set as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(text))


def _is_path(mirrored: str) -> bool:
    return not mirrored.startswith("nothing in PyTorch")


def _aside(mirrors: str) -> str:
    return f"PyTorch 2.13: {pytorch_links(mirrors)}" if _is_path(mirrors) else html.escape(mirrors)


def _beside(mirrors: str) -> str:
    return f"in PyTorch: {mirrors}" if _is_path(mirrors) else mirrors


def pytorch_links(mirrors: str) -> str:
    """What a `Mirrors:` line says, each path a link to PyTorch's source."""
    if not _is_path(mirrors):
        return html.escape(mirrors)
    return re.sub(
        r"[\w./-]+/[\w.-]+\.\w+|setup\.py|CMakeLists\.txt",
        lambda found: f'<a href="{PYTORCH}/{found[0]}">{found[0]}</a>',
        html.escape(mirrors),
    )
