"""The picture of a debug session in two languages: what the editor's views show while gdb holds the process.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: driving the two debuggers; tests/debug/test_meter.py does that, and writes what they answered into a file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from course._tools.layout import ROOT
from reftorch.debug.common.svg import LINE, MUTED, PAPER, Picture

RUNNING, STOPPED, HERE = "#ddf4ff", "#ffe58a", "#fff8c5"
LEFT, RIGHT, ROW, PAD = 430, 560, 19, 12


def sessions(file: str, caption: str) -> Picture:
    """Both sessions of a recording: on the left the call stack, on the right the line, the variables and the watches.

    Args:
        file: the recording, a JSON file beside the notebook.
        caption: what to see.
    """
    recorded = json.loads(Path(file).read_text())
    python, cpp = recorded["python"], recorded["cpp"]
    lines = _lines_around(cpp["frames"][0])
    rows = max(3 + len(cpp["frames"]), 5 + len(lines) + len(cpp["variables"]) + len(cpp["watches"]))
    picture = Picture(LEFT + RIGHT + 3 * PAD, 44 + rows * ROW + PAD + 22, caption)
    picture.box(4, 4, picture.width - 8, picture.height - 26, fill=PAPER, line=LINE)
    picture.text(PAD + 4, 24, f"Run and Debug: {recorded['configuration']}", bold=True)
    _call_stack(picture, python, cpp)
    _details(picture, cpp, lines)
    picture.text(PAD, picture.height - 6, caption, size=12, fill=MUTED)
    return picture


def _call_stack(picture: Picture, python: dict[str, Any], cpp: dict[str, Any]) -> None:
    x, y = PAD + 4, 50
    picture.text(x, y, "CALL STACK", size=11, fill=MUTED)
    for session, state, fill in ((python, "RUNNING", RUNNING), (cpp, "PAUSED ON BREAKPOINT", STOPPED)):
        y += ROW
        picture.box(x - 4, y - 14, LEFT - 8, ROW - 1, fill=fill, r=3)
        picture.text(x + 2, y, session["name"], size=12, bold=True)
        picture.text(x + LEFT - 20, y, state, size=10, fill=MUTED, anchor="end")
    for number, frame in enumerate(cpp["frames"]):
        y += ROW
        if number == 0:
            picture.box(x + 8, y - 14, LEFT - 20, ROW - 1, fill=HERE, r=3)
        picture.text(x + 16, y, frame["name"], size=12, mono=True)
        place = f"{Path(frame['path']).name}:{frame['line']}"
        picture.text(x + LEFT - 20, y, place, size=11, fill=MUTED, anchor="end")


def _details(picture: Picture, cpp: dict[str, Any], lines: list[tuple[int, str]]) -> None:
    x, y = LEFT + 2 * PAD, 50
    stopped = cpp["frames"][0]["line"]
    picture.text(x, y, cpp["frames"][0]["path"], size=11, fill=MUTED)
    for number, text in lines:
        y += ROW
        if number == stopped:
            picture.box(x - 4, y - 14, RIGHT - 8, ROW - 1, fill=HERE, r=3)
        picture.text(x + 30, y, f"{number}", size=11, mono=True, fill=MUTED, anchor="end")
        picture.text(x + 42, y, text.replace(" ", "\u00a0"), size=12, mono=True)
    for title, values in (("VARIABLES", cpp["variables"]), ("WATCH", cpp["watches"])):
        y += ROW + 4
        picture.text(x, y, title, size=11, fill=MUTED)
        for name, value in values.items():
            y += ROW
            picture.text(x + 12, y, f"{name}: {value}", size=12, mono=True)


def _lines_around(frame: dict[str, Any], context: int = 3) -> list[tuple[int, str]]:
    """The lines of a frame's file as they are now, around the line in which the frame stands."""
    text, line = (ROOT / frame["path"]).read_text().splitlines(), frame["line"]
    return [(number, text[number - 1]) for number in range(line - context, line + context)]
