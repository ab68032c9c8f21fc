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
from tests.vscode.window import Window, expect

PICTURE = METER.with_name("both_sessions.png")
SMALL = {"width": 1280, "height": 760}  # what is read at the width of a notebook
SIDE_BAR = 470  # pixels: wide enough for the names of the functions
METER_FILE, COPIES_FILE = (os.path.relpath(file, ROOT) for file in (METER, COPIES))


def stop_at_the_seventeenth_frame(window: Window) -> None:
    window.open(METER_FILE, SHIFT_LINE)
    window.command("Debug: Add Conditional Breakpoint...")
    # On a slow machine the box opens late. The text would go into the source, which the editor saves.
    window.page.locator(".breakpoint-widget .monaco-editor.focused").wait_for()
    window.page.keyboard.insert_text(SEVENTEENTH)
    window.press("Enter")
    window.command("View: Show Run and Debug")
    make_room(window)
    window.page.select_option(".start-debug-action-item select", label=CONFIGURATION)
    window.press("F5")
    window.wait_for_row(window.call_stack, rf"Stack Frame forward, line {SHIFT_LINE}, meter\.py")
    value = window.wait_for_row(window.variables, r"^frame, value tensor\(")
    window.shot("meter_1_python", f"stopped in Python, before the seventeenth shift; {value}")
    expect("8.5", value)


def make_room(window: Window) -> None:
    """A wide side bar without the list of breakpoints, and no panel below the source."""
    page = window.page
    box = page.locator(".part.sidebar").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"], 300)
    page.mouse.down()
    page.mouse.move(box["x"] + SIDE_BAR, 300, steps=5)
    page.mouse.up()
    section = page.locator('.pane-header[aria-label="Breakpoints Section"]')
    if section.get_attribute("aria-expanded") == "true":
        section.click()


def watch(window: Window, expression: str) -> None:
    """Add an expression to those that the editor evaluates at each stop."""
    pane = window.page.locator(".pane", has=window.page.locator('[aria-label="Watch Section"]'))
    pane.hover()
    pane.locator('[aria-label="Add Expression"]').click()
    window.page.locator(".monaco-inputbox input:focus").wait_for()
    window.page.keyboard.insert_text(expression)
    window.press("Enter")
    window.wait_for_row(window.watches, f"^{re.escape(expression)}")


def stop_between_the_two_copies(window: Window) -> None:
    window.open(COPIES_FILE, REST_LINE)
    window.press("F9")
    # Only when the point is red has gdb set it. Until then a program that goes on would pass.
    window.page.locator(".editor-instance .codicon-debug-breakpoint:not(.codicon-debug-hint)").first.wait_for()
    window.click_row("call-stack", "Stack Frame forward")  # Python's session is the one to continue
    window.press("F5")
    frame = window.wait_for_row(window.call_stack, rf"copy_row.*, line {REST_LINE}")
    for expression, value in zip(WATCHES, ("4", "0.5"), strict=True):
        watch(window, expression)
        window.wait_for_row(window.watches, rf"^{re.escape(expression)}, value {value}")
    window.shot("meter_2_cpp", f"stopped in C++ between the two copies: {frame}")


def hunt_the_wrong_number(window: Window, server: Server) -> None:
    before = window.page.viewport_size
    window.page.set_viewport_size(SMALL)
    stop_at_the_seventeenth_frame(window)
    stop_between_the_two_copies(window)
    if window.page.locator(".part.panel").is_visible():
        window.command("View: Toggle Panel Visibility")
    window.page.mouse.move(800, 700)  # nothing is under the mouse that has a tip
    window.page.wait_for_timeout(2000)
    if os.environ.get("REFTORCH_COURSE_STORE"):
        window.page.screenshot(path=str(PICTURE))
    window.open(COPIES_FILE, REST_LINE)
    window.press("F9")
    window.press("F5")
    window.until(lambda: not window.call_stack(), "the end of both sessions")
    window.until(lambda: not server.debuggers(), "no process of the session is left")
    window.page.set_viewport_size(before)
