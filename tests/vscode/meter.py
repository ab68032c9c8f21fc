"""The hunt of chapter 04 in the editor's window, up to the stop in C++ that shows the wrong number; takes its picture.

Mirrors: nothing in PyTorch: it tests no editor.
Left out: the answers of the two debuggers one by one; tests/debug/test_meter.py compares them without a window.

The lesson shows the picture course/04_debugging/both_sessions.png. With `REFTORCH_COURSE_STORE=1` in the environment
this part takes that picture anew.
"""

from __future__ import annotations

import os
import re

from tests.debug.launch import ROOT
from tests.debug.test_meter import COPIES, METER, REST_LINE, SEVENTEENTH, SHIFT_LINE, WATCHES
from tests.vscode.debugging import CONFIGURATION
from tests.vscode.server import Server
from tests.vscode.window import SMALL, Window, expect

PICTURE = METER.with_name("both_sessions.png")
METER_FILE, COPIES_FILE = (os.path.relpath(file, ROOT) for file in (METER, COPIES))


def stop_at_the_seventeenth_frame(window: Window) -> None:
    window.open(METER_FILE, SHIFT_LINE)
    window.command("Debug: Add Conditional Breakpoint...")
    # On a slow machine the box opens late. The text would go into the source, which the editor saves.
    window.page.locator(".breakpoint-widget .monaco-editor.focused").wait_for()
    window.page.keyboard.insert_text(SEVENTEENTH)
    window.press("Enter")
    window.start(CONFIGURATION, fold_breakpoints=True)
    window.wait_for_row(window.call_stack, rf"Stack Frame forward, line {SHIFT_LINE}, meter\.py")
    value = window.wait_for_row(window.variables, r"^frame, value tensor\(")
    window.shot("meter_1_python", f"stopped in Python, before the seventeenth shift; {value}")
    expect("8.5", value)


def stop_between_the_two_copies(window: Window) -> None:
    window.set_breakpoint(COPIES_FILE, REST_LINE)
    window.click_row("call-stack", "Stack Frame forward")  # Python's session is the one to continue
    window.drive("F5")
    frame = window.wait_for_row(window.call_stack, rf"copy_row.*, line {REST_LINE}")
    for expression, value in zip(WATCHES, ("4", "0.5"), strict=True):
        window.watch(expression)
        window.wait_for_row(window.watches, rf"^{re.escape(expression)}, value {value}")
    window.shot("meter_2_cpp", f"stopped in C++ between the two copies: {frame}")


def hunt_the_wrong_number(window: Window, server: Server) -> None:
    before = window.page.viewport_size
    window.page.set_viewport_size(SMALL)
    stop_at_the_seventeenth_frame(window)
    stop_between_the_two_copies(window)
    window.picture(PICTURE)
    window.run_to_the_end(COPIES_FILE, REST_LINE)
    window.page.set_viewport_size(before)
