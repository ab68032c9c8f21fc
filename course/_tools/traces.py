"""`trace`: the lines of one function in the order in which they ran, each with the values that the line changed.

Mirrors: nothing in PyTorch: its developers bring their own tools.
Leaves out: what called functions do; `%%native_trace` steps into them. The turns of a comprehension: it is one row, on
Python 3.11 as on later ones, which run its turns in the frame of the function around it.
"""

from __future__ import annotations

import ast
import html
import inspect
import linecache
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from course._tools.definitions import definition, text_of
from course._tools.layout import ROOT
from course._tools.listing import BOX, HEAD, MONO, WRAPPED, highlighted, in_box, link
from course._tools.names import find_definition
from reftorch.debug.common.display import scrub
from reftorch.debug.core import gdb_session as session

MOST = 40  # rows
WIDEST = 70  # characters of a value
WIDEST_CPP = 120  # gdb writes a struct with the names of all its fields
CELL = "padding:1px 10px;text-align:left;vertical-align:top;color:#1f2328;background:#fff"
ADDRESS = re.compile(r" at 0x[0-9a-f]+")

Values = dict[str, str]


class Moment(NamedTuple):
    """The function is about to run `line`; `values` are its locals before the line runs."""

    line: int
    values: Values


@dataclass
class Row:
    """A line that ran, and what it changed."""

    line: int
    text: str
    changed: Values
    note: str = ""


@dataclass
class Trace:
    """The rows of one call of one function."""

    name: str
    path: str
    entry: Values
    rows: list[Row]
    outcome: str
    cut: bool = False
    linked: bool = field(default=True, repr=False)

    def __repr__(self) -> str:
        width = max((len(row.text) for row in self.rows), default=0)
        lines = [f"{self.name} in {self.path}", f"called with {_said(self.entry) or 'nothing'}"]
        for row in self.rows:
            note = f"   <- {row.note}" if row.note else ""
            lines.append(f"    {row.line:>4} | {row.text:<{width}}  {_said(row.changed)}{note}".rstrip())
        return "\n".join([*lines, self.outcome])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._html()}

    def _html(self) -> str:
        first = self.rows[0].line if self.rows else 1
        place = link(self.path, f"{self.path}:{first}", line=first) if self.linked else html.escape(self.path)
        place = place.replace("<a ", '<a style="color:#0550ae" ')
        head = f"<b>{place}</b> &nbsp; {html.escape(self.name)}, line by line as it ran"
        entry = ", ".join(f"{html.escape(name)} = {html.escape(value)}" for name, value in self.entry.items())
        entry = f'<span style="{MONO};overflow-wrap:anywhere">{entry or "nothing"}</span>'
        body = (
            f'<tr><td style="{CELL}"></td><td colspan="2" style="{CELL}"><i style="color:#57606a">called with</i> '
            f"{entry}</td></tr>"
        )
        for row in self.rows:
            code = highlighted(row.text.lstrip(), self.path if self.linked else "cell.py")[0]
            code = f"{row.text[: -len(row.text.lstrip())]}{code}"
            changed = "background:#fff8c5" if row.changed else ""
            note = f'<div style="font-size:13px">{in_box(row.note)}</div>' if row.note else ""
            body += (
                f'<tr><td style="{CELL};color:#8c959f;text-align:right">{row.line}</td>'
                f'<td style="{CELL}"><pre style="margin:0;padding:0;{WRAPPED}">{code}</pre></td>'
                f'<td style="{CELL};{changed}">{_values_html(row.changed)}{note}</td></tr>'
            )
        columns = [("", "32px"), ("line that ran", "auto"), ("what it changed", "230px")]
        titles = "".join(
            f'<th style="{CELL};width:{width};font-size:12px;color:#57606a">{name}</th>' for name, width in columns
        )
        table = (
            "table-layout:fixed;width:100%;border-collapse:collapse;margin:4px 0;font-size:12px;overflow-wrap:anywhere"
        )
        return (
            f'<!-- listing --><div style="{BOX}"><div style="{HEAD}">{head}</div>'
            f'<table style="{table}"><tr>{titles}</tr>{body}</table>'
            f'<div style="padding:4px 10px 7px;font-size:13px;color:#1f2328">{in_box(self.outcome)}</div></div>'
            "<!-- /listing -->"
        )


def trace(
    what: str | Callable[..., Any],
    run: Callable[[], Any],
    *,
    watch: Iterable[str] = (),
    notes: Mapping[str, str] | None = None,
    first: str = "",
    last: str = "",
    skip: Iterable[str] = (),
    inside: str = "",
    most: int = MOST,
) -> Trace:
    """Run a program, and show one call of one function line by line, with the values that each line changed.

    gdb steps through a function of C++; through a function of Python `sys.settrace` does. The first call that `run`
    makes is shown. Values are those after the line ran.

    Args:
        what: the function in words, as `show_source` takes them; or a Python function, one of the notebook's own too.
        run: a function without arguments that calls it, as `lambda: x.t().view(6)`. An error that it raises is shown.
        watch: the locals to show of each line, and their order; all where none is named.
        notes: a note for each row whose line holds the text.
        first, last: text of the line to begin with, and of the line to end with (of several rows the last one); for
            a loop in a long function.
        skip: texts of lines to leave out, as of checks that hold; what such a line changes is in no row.
        inside: text of the first line of a lambda in a function of C++; the lambda's first call is shown then.
        most: how many rows at most.

    Raises:
        LookupError: `run` did not call the function, or no line that ran holds `first`, `last`, a text of `skip`
            or the text of a note.

    Example::

        >>> def halve(n):
        ...     count = 0
        ...     while n > 1:
        ...         n //= 2
        ...         count += 1
        ...     return count
        >>> [row.changed for row in trace(halve, lambda: halve(4)).rows][:4]
        [{'count': '0'}, {}, {'n': '2'}, {'count': '1'}]
    """
    names = list(watch)
    if isinstance(what, str):
        path, name = find_definition(what)
        if path.endswith(".py"):
            begin, end = definition(path, text_of(path), name, None)
            trace = _of_python(name, path, str(ROOT / path), begin, end, run, names)
        else:
            steps = most + (MOST if first else 0)
            begin, end = definition(path, text_of(path), name, 0)
            # The lines above the name are a comment, or a template's parameters. A newer gdb than 13 sets no breakpoint
            # there, because a line that has no code must not lead into a function that begins below the line.
            begin = _line_of(inside or name.split("::")[-1], path, begin, end)
            trace = _of_cpp(name, path, begin, run, names, steps)
    else:
        trace = _of_own(inspect.unwrap(what), run, names)
    if not trace.rows:
        raise LookupError(f"trace: the program did not call {trace.name} of {trace.path}; it ended so: {trace.outcome}")
    left_out = list(skip)
    for text in (first, last, *left_out):
        if not any(text in row.text for row in trace.rows):
            raise LookupError(f"trace: no line that ran holds {text!r}")
    begin = next(position for position, row in enumerate(trace.rows) if first in row.text)
    end = max(position for position, row in enumerate(trace.rows) if last in row.text)
    trace.rows = [row for row in trace.rows[begin : end + 1] if not any(text in row.text for text in left_out)]
    for text, note in (notes or {}).items():
        rows = [row for row in trace.rows if text in row.text]
        if not rows:
            raise LookupError(f"trace: no line that ran holds {text!r}")
        rows[0].note = note  # once: a loop would repeat the note at each turn
    if len(trace.rows) > most:
        trace.rows, trace.cut = trace.rows[:most], True
    if trace.cut:
        trace.outcome = f"{GAP_LINE.format(most)} {trace.outcome}"
    return trace


def _line_of(text: str, path: str, begin: int, end: int) -> int:
    """The first line from `begin` to `end` that contains `text` and is not a comment."""
    lines = text_of(path).splitlines()
    for number in range(begin, end + 1):
        if text in lines[number - 1] and not lines[number - 1].lstrip().startswith("//"):
            return number
    raise LookupError(f"trace: no line of {path} from {begin} to {end} holds {text!r}")


GAP_LINE = "Only the first {} lines are shown."


def _outcome(run: Callable[[], Any]) -> str:
    """Run the program; say how it ended."""
    try:
        result = run()
    except Exception as error:
        return f"The program raised `{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}`"
    return f"The program returned `{_short(result)}`"


# --- Python


def _of_own(function: Callable[..., Any], run: Callable[[], Any], names: list[str]) -> Trace:
    code = function.__code__
    lines, first = inspect.getsourcelines(function)
    file = Path(code.co_filename)
    in_checkout = file.is_relative_to(ROOT)
    path = file.relative_to(ROOT).as_posix() if in_checkout else "this notebook"
    name = function.__qualname__.split("<locals>.")[-1]
    trace = _of_python(name, path, code.co_filename, first, first + len(lines) - 1, run, names)
    trace.linked = in_checkout
    return trace


def _of_python(
    name: str, path: str, file: str, first: int, last: int, run: Callable[[], Any], names: list[str]
) -> Trace:
    moments: list[Moment] = []
    returned: list[str] = []
    traced: list[FrameType] = []
    wanted = name.split(".")[-1]
    comprehensions = _comprehensions(file)

    def of_frame(frame: FrameType, event: str, argument: Any) -> Any:
        line = comprehensions.get(frame.f_lineno, frame.f_lineno)
        is_turn = frame.f_lineno in comprehensions and bool(moments) and moments[-1].line == line
        if event == "return" or (event == "line" and not is_turn):
            moments.append(Moment(line, _locals(frame)))
        if event == "return":
            returned.append(_short(argument))
        return of_frame

    def of_call(frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if traced or code.co_name != wanted or code.co_filename != file or not first <= code.co_firstlineno <= last:
            return None
        traced.append(frame)
        return of_frame

    before = sys.gettrace()
    sys.settrace(of_call)
    try:
        outcome = _outcome(run)
    finally:
        sys.settrace(before)
    rows = _rows(moments, lambda line: linecache.getline(file, line).rstrip(), names)
    return Trace(name, path, moments[0].values if moments else {}, _unindented(rows), outcome)


def _comprehensions(file: str) -> dict[int, int]:
    """Return for each line of a comprehension the comprehension's first line.

    Up to Python 3.11 a comprehension of a list, a set or a dict is a function of its own. Later Pythons run its turns
    in the frame around it: each turn is a line that runs once more, with the comprehension's variable among the locals.
    """
    source = "".join(linecache.getlines(file))
    kinds = (ast.ListComp, ast.SetComp, ast.DictComp)
    found: dict[int, int] = {}
    for node in ast.walk(ast.parse(source)):  # an outer one before those within it
        if isinstance(node, kinds):
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found.setdefault(line, node.lineno)
    return found


def _locals(frame: FrameType) -> Values:
    return {name: _short(value) for name, value in frame.f_locals.items() if not name.startswith("__")}


def _short(value: Any) -> str:
    """A value on one line."""
    try:
        text = re.sub(r"\s+", " ", repr(value))
    except Exception as error:  # an object whose __init__ is running has no fields yet
        text = f"<{type(value).__name__}, no repr: {type(error).__name__}>"
    return _cut(ADDRESS.sub("", text), WIDEST)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


# --- C++


def _of_cpp(name: str, path: str, line: int, run: Callable[[], Any], names: list[str], most: int) -> Trace:
    job = session.Job(breaks=[f"{path}:{line}"], trace=True, over=True, max_lines=most + 1)
    events, outcome = session.run_attached(lambda: _outcome(run), job)
    lines = [event for event in events if event["kind"] == "line" and event["depth"] == 0]
    moments = [Moment(event["line"], {n: scrub(text) for n, text in event["locals"]}) for event in lines]
    problems = [event["text"] for event in events if event["kind"] in ("error", "bad_break")]
    if problems and not lines:
        raise LookupError(f"trace: gdb said: {'; '.join(problems)}")
    source = text_of(path).splitlines()
    entry = {name: _cut(value, WIDEST_CPP) for name, value in moments[0].values.items()} if moments else {}
    if moments and source[moments[-1].line - 1].strip() != "}":  # the function ends at its brace, which is not a row
        moments.append(moments[-1])
    rows = _rows(moments, lambda at: source[at - 1].rstrip(), names)
    for row in rows:
        row.changed = {name: _cut(value, WIDEST_CPP) for name, value in row.changed.items()}
    return Trace(name, path, entry, _unindented(rows), outcome)


# --- both


def _rows(moments: list[Moment], text_at: Callable[[int], str], names: list[str]) -> list[Row]:
    """Return a row for each line of a call. Its changes are in the moment after it; the last moment is the return.

    Of the locals those called `names` are shown, and all where no name is given.
    """
    rows: list[Row] = []
    known = dict(moments[0].values) if moments else {}
    for now, after in pairwise(moments):
        changed = {name: value for name, value in after.values.items() if known.get(name) != value}
        known.update(changed)
        watched = {name: changed[name] for name in names if name in changed} if names else changed
        rows.append(Row(now.line, text_at(now.line), watched))
    return rows


def _unindented(rows: list[Row]) -> list[Row]:
    """Remove the indentation that all rows have in common."""
    margin = min((len(row.text) - len(row.text.lstrip()) for row in rows if row.text.strip()), default=0)
    for row in rows:
        row.text = row.text[margin:]
    return rows


def _said(values: Values) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _values_html(values: Values) -> str:
    lines = (f"{html.escape(name)} = {html.escape(value)}" for name, value in values.items())
    return f'<span style="{MONO};overflow-wrap:anywhere">{"<br>".join(lines)}</span>'
