"""Breakpoints on five lines that compute, in the editor's window: a stop before each line has run, and three steps.

Mirrors: nothing in PyTorch: it tests no editor.
Left out: the same in a notebook; tests/debug/test_arithmetic.py does it without a window.
"""

from __future__ import annotations

import os
import re

from tests.debug.launch import ROOT
from tests.debug.test_arithmetic import LINES, PRINTED, PROGRAM, STEPS, place
from tests.vscode.debugging import CONFIGURATION
from tests.vscode.server import Server
from tests.vscode.window import StageFailed, Window, expect

FRAME = r"^Stack Frame .*, line (\d+), (\S+)$"


def innermost(window: Window) -> tuple[str, int]:
    """The file and the line of the stop in C++."""
    row = window.wait_for_row(window.call_stack, FRAME)
    found = re.search(FRAME, row)
    assert found is not None
    return found[2], int(found[1])


def stop_and_step(window: Window, number: int) -> None:
    file, above, text, operands = LINES[number]
    path, line = place(file, above, text)
    window.wait_for_row(window.call_stack, rf"^Stack Frame .*, line {line}, {re.escape(path.name)}$")
    for name, value in operands.items():
        window.wait_for_row(window.variables, rf"^{name}, value {re.escape(value)}$")
    window.shot(f"arithmetic_{number + 1}_stop", f"stopped before `{text}`: {operands}")
    seen = [(path.name, line)]
    for _ in range(STEPS):
        window.drive("F10")
        seen.append(window.until(lambda before=seen[-1]: (now := innermost(window)) != before and now, "the next line"))
    window.say(f"three steps: {seen[1:]}")
    window.shot(f"arithmetic_{number + 1}_stepped", f"stepped to {seen[-1][0]}, line {seen[-1][1]}")
    if any(not (list((ROOT / "cpp").rglob(name))) for name, _ in seen):
        raise StageFailed(f"the steps lead out of the library: {seen}")


def stop_on_arithmetic(window: Window, server: Server) -> None:
    window.open(os.path.relpath(PROGRAM, ROOT))
    for file, above, text, _ in LINES:
        path, line = place(file, above, text)
        window.open(os.path.relpath(path, ROOT), line)
        window.press("F9")
    window.start(CONFIGURATION, fold_breakpoints=True)
    said = window.wait_for_row(window.messages, "reftorch runs")
    expect(f"reftorch runs {PROGRAM.name}", said)
    for number in range(len(LINES)):
        stop_and_step(window, number)
        window.drive("F5")
    window.until(lambda: not window.call_stack(), "the end of both sessions")
    window.wait_for_row(window.console, re.escape(PRINTED))
    window.until(lambda: not server.debuggers(), "no process of the session is left")
    window.command("Remove All Breakpoints")
    window.shot(
        "arithmetic_6_ended", "both sessions have ended, the program has printed its results, no process is left"
    )
