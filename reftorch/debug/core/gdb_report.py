"""The report of a gdb session: text in a terminal, a block of HTML in a notebook.

Mirrors: nothing in PyTorch: its developers bring their own tools.
Left out: addresses, process numbers, temporary paths; so equal stops give equal output, which nbval can compare.
"""

from __future__ import annotations

import html
import os
from collections.abc import Iterable
from typing import Any

from reftorch.debug.common.display import DIM, STYLE, link, scrub
from reftorch.debug.core.folded_stack import Fold, Frame, folded

Event = dict[str, Any]

MARK = "background:#ffe0b2;color:#000"
SCREENFUL = 18  # rows of the tables of a report that are shown without scrolling
FEWEST = 8  # rows that a table shows at least
WRAP = "overflow-wrap:anywhere"  # a long name goes on in the next line: nobody scrolls sideways


class GdbReport:
    """The events of one session; ``print`` gives text, a notebook shows HTML."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.events = list(events)

    def __str__(self) -> str:
        blocks: list[str] = []
        for group in self._groups():
            writer = getattr(self, f"_text_{group[0]['kind']}")
            blocks.append(writer(group))
        return "\n".join(blocks)

    def __repr__(self) -> str:
        return str(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return "".join(getattr(self, f"_html_{group[0]['kind']}")(group) for group in self._groups())

    def _groups(self) -> list[list[Event]]:
        """Group neighbours of one kind that are shown as one block: the lines of a trace, the commands of a stop."""
        groups: list[list[Event]] = []
        for event in self.events:
            if event["kind"] == "end":
                continue
            if groups and event["kind"] in ("line", "command") and groups[-1][0]["kind"] == event["kind"]:
                groups[-1].append(event)
            else:
                groups.append([event])
        return groups

    # --- text --------------------------------------------------------------------------------------------------------

    def _text_stop(self, group: list[Event]) -> str:
        (event,) = group
        out = []
        if "source" in event:
            out.append(f"{title(event)}  {scrub(event['file'])}:{event['line']}  {scrub(event['function'])}")
            width = len(str(event["line"])) + 1
            out += [
                f" {'->' if n == event['line'] else '  '} {n:>{width}} | {text}".rstrip() for n, text in event["source"]
            ]
            out += table([(name, scrub(text)) for name, text in event["locals"]], "  locals")
        rows = [
            (str(each), "") if isinstance(each, Fold) else (frame_place(each), scrub(each.function))
            for each in _entries(event)
        ]
        out += table(rows, "  stack, innermost call first")
        return "\n".join(out)

    def _text_command(self, group: list[Event]) -> str:
        return "\n".join(f"(gdb) {event['command']}\n{scrub(event['text']).rstrip()}" for event in group)

    def _text_line(self, group: list[Event]) -> str:
        rows = trace_rows(group)
        width = max(len(place) for place, *_ in rows)
        code = min(max(len(text) for _, text, _ in rows), 80)
        return "\n".join(f"{place:<{width}}  {text:<{code}}  {values}".rstrip() for place, text, values in rows)

    def _text_error(self, group: list[Event]) -> str:
        return "\n".join(f"gdb: {scrub(event['text'])}" for event in group)

    _text_note = _text_bad_break = _text_error

    # --- HTML --------------------------------------------------------------------------------------------------------

    def _html_stop(self, group: list[Event]) -> str:
        (event,) = group
        parts = []
        if "source" in event:
            where = link(event["file"], event["line"])
            parts.append(f"<b>{html.escape(title(event))}</b> {escape(event['function'])} {where}")
            width = len(str(event["line"])) + 1
            rows = []
            for n, text in event["source"]:
                code = f"{n:>{width}}  {html.escape(text, quote=False)}"
                rows.append(f'<span style="{MARK}">{code}</span>' if n == event["line"] else code)
            parts.append(pre("\n".join(rows)))
            parts.append(fold("locals", [(escape(name), escape(text)) for name, text in event["locals"]]))
        stack = [_html_fold(each) if isinstance(each, Fold) else _html_frame(each) for each in _entries(event)]
        hint = "from the innermost call outwards, both languages"
        parts.append(fold("stack", stack, hint, most=self._share()))
        return f'<div style="{STYLE}">{"".join(parts)}</div>'

    def _html_command(self, group: list[Event]) -> str:
        text = "\n".join(
            f"<b>(gdb) {escape(e['command'])}</b>\n{html.escape(scrub(e['text']).rstrip(), quote=False)}" for e in group
        )
        return f'<div style="{STYLE}">{pre(text)}</div>'

    def _share(self) -> int:
        """Return how many rows a stack may have: all stops share the screen."""
        stops = sum(event["kind"] == "stop" for event in self.events)
        return max(FEWEST, SCREENFUL // max(stops, 1))

    def _html_line(self, group: list[Event]) -> str:
        rows = []
        for event, (place, text, values) in zip(group, trace_rows(group), strict=True):
            indent = "&nbsp;" * (len(text) - len(text.lstrip()))
            code = indent + html.escape(text.lstrip(), quote=False)
            cells = (link(event["file"], event["line"], place), f"<code>{code}</code>", escape(values))
            # The source may wrap, so that `size_a = 2` fits on one line.
            style = f"text-align:left;vertical-align:top;min-width:8em;{WRAP}"
            rows.append("".join(f'<td style="{style}">{cell}</td>' for cell in cells))
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f'<div style="{STYLE}"><table>{body}</table></div>'

    def _html_error(self, group: list[Event]) -> str:
        return f'<div style="{STYLE}">{pre(html.escape(self._text_error(group), quote=False))}</div>'

    _html_note = _html_bad_break = _html_error


def title(event: Event) -> str:
    return f"stopped by {event['signal']}" if event["signal"] else f"stop {event['number']}"


def _entries(event: Event) -> list[Frame | Fold]:
    """Return the stack of a stop, with boilerplate folded; `rt-bt` in gdb shows all frames."""
    return folded([Frame(*frame) for frame in event["stack"]])


def _html_frame(frame: Frame) -> tuple[str, str]:
    return link(frame.file, frame.line, frame_place(frame)), escape(frame.function)


def _html_fold(entry: Fold) -> tuple[str, str]:
    """Return a fold as a row: a line that opens to the places of its frames, each with its function."""
    frames = "".join(f"<div>{place} {function}</div>" for place, function in map(_html_frame, entry.frames))
    summary = f'<summary style="{DIM}">{html.escape(str(entry))}</summary>'
    return f'<details style="white-space:normal;{WRAP}">{summary}{frames}</details>', ""


def frame_place(frame: Frame) -> str:
    """Return the language and the place of a frame, as the first column of a stack shows them."""
    language, _, path, line = frame
    place = f"{scrub(path)}:{line}" if line else path  # a library without debug symbols has no lines
    return f"{language:<3}  {place}"


def trace_rows(group: list[Event]) -> list[tuple[str, str, str]]:
    """Return (place, source, the locals that changed) for each line of a trace."""
    rows: list[tuple[str, str, str]] = []
    before: dict[tuple[str, int, str], str] = {}
    for event in group:
        place = f"{os.path.basename(event['file'])}:{event['line']}"
        changed = []
        for name, text in event["locals"]:
            key = (event["function"], event["depth"], name)
            if before.get(key) != text:
                changed.append(f"{name} = {scrub(text)}")
            before[key] = text
        rows.append((place, "  " * event["depth"] + event["text"], ", ".join(changed)))
    return rows


def table(rows: list[tuple[str, str]], heading: str) -> list[str]:
    if not rows:
        return []
    width = max(len(left) for left, _ in rows)
    return [heading, *(f"    {left:<{width}}  {right}".rstrip() for left, right in rows)]


def escape(text: str) -> str:
    return html.escape(scrub(text), quote=False)


def pre(body: str) -> str:
    return f'<pre style="margin:2px 0;line-height:1.35;background:none">{body}</pre>'


def fold(name: str, rows: list[tuple[str, str]], hint: str = "", most: int = SCREENFUL) -> str:
    """A table below its name, to open and to close. A table of more than `most` rows is scrolled."""
    if not rows:
        return ""
    cells = "".join(
        f'<tr><td style="text-align:left;white-space:nowrap">{left}</td>'
        f'<td style="text-align:left;{WRAP}">{right}</td></tr>'
        for left, right in rows
    )
    summary = f'<summary>{name} <span style="{DIM}">{hint}</span></summary>'
    table = f"<table>{cells}</table>"
    if len(rows) > most:
        table = f'<div style="max-height:{most * 26 // SCREENFUL}em;overflow-y:auto">{table}</div>'
    return f"<details open>{summary}{table}</details>"
