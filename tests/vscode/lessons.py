"""Lessons of the course in the editor's notebook view: the stored pictures, then each lesson run by our kernel.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Left out: what the numbers are; nbval compares them, in tests/course.
"""

from __future__ import annotations

import json
import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Error as BrowserError
from playwright.sync_api import FloatRect

from course._tools.layout import Chapter
from tests.debug.launch import ROOT
from tests.vscode.server import Server
from tests.vscode.window import StageFailed, Window

PICTURES = ".output_container img, .output_container svg"
# A picture in what a cell has put out: as a file, or drawn in HTML.
PICTURE = re.compile("^image/|<svg|<img")
TOOLBAR = ".notebook-toolbar-container"
ROWS = ".notebookOverlay .cell-list-container > .monaco-list .monaco-list-rows"


def outputs(notebook: Path) -> list[list[dict[str, Any]]]:
    """Those of each code cell."""
    return [cell["outputs"] for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]


def has_picture(output: dict[str, Any]) -> bool:
    return any(PICTURE.search(kind + "".join(text)) for kind, text in output.get("data", {}).items())


def pictures(notebook: Path) -> int:
    return sum(has_picture(output) for cell in outputs(notebook) for output in cell)


def shown_pictures(window: Window) -> list[FloatRect]:
    """Where in the window the pictures of outputs have been drawn, in view or not: in a frame of their own."""
    boxes = []
    for frame in window.page.frames:
        with suppress(BrowserError):  # the editor fills that frame anew: look again later
            boxes += [picture.bounding_box() for picture in frame.query_selector_all(PICTURES)]
    return [box for box in boxes if box and min(box["width"], box["height"]) > 20]


def scrolled(window: Window) -> float:
    """How many pixels of the notebook are above the window."""
    return float(window.page.evaluate(f"() => -parseFloat(getComputedStyle(document.querySelector('{ROWS}')).top)"))


def scroll_down(window: Window, pixels: float) -> None:
    """Turn the wheel until so many pixels have gone by, or nothing moves any more."""
    start = last = scrolled(window)
    while last < start + pixels:
        window.page.mouse.wheel(0, 400)
        window.page.wait_for_timeout(100)
        if (now := scrolled(window)) == last:
            return
        last = now


def read_through(window: Window, name: str) -> int:
    """Screenful by screenful, for outputs are drawn when they come into view; returns how many pictures were seen."""
    view = window.page.locator(".notebookOverlay:visible").bounding_box()
    assert view is not None
    window.page.mouse.move(view["x"] + view["width"] / 2, view["y"] + view["height"] / 2)
    window.page.mouse.wheel(0, -1e6)
    seen, before = 0, None
    for number in range(1, 200):
        window.page.wait_for_timeout(1500)  # what comes into view is drawn
        if (now := scrolled(window)) == before:
            return seen
        seen, before = max(seen, len(shown_pictures(window))), now
        window.shot(f"{name}_{number:02}", f"at {now}, {seen} pictures so far")
        scroll_down(window, 0.8 * view["height"])
    raise StageFailed(f"{name} has no end")


def button(window: Window, name: str) -> Any:
    return window.page.locator(f'{TOOLBAR} [aria-label^="{name}"]').first


def run_all(window: Window) -> None:
    """By the buttons of the notebook. Nothing stored is left; and while cells run there is one that stops them."""
    button(window, "Clear All Outputs").click()
    button(window, "Run All").click()
    stop = button(window, "Interrupt")
    stop.wait_for()
    window.until(lambda: not stop.is_visible(), "the last cell has run")


def save_as(window: Window, target: Path) -> None:
    dialog = window.page.locator(".quick-input-widget")
    asked = dialog.locator("input").first

    def proposed() -> bool:
        if not dialog.is_visible():
            window.press("Control+Shift+S")
            window.page.wait_for_timeout(3000)
        return asked.input_value().endswith(target.name)

    window.until(proposed, "the dialog has proposed a name")
    asked.fill(str(target))
    window.page.wait_for_timeout(1000)  # it looks whether there is such a folder
    dialog.locator(".monaco-button", has_text="OK").click()
    window.until(lambda: target.exists() and target.read_text().rstrip().endswith("}"), f"{target} is saved")


def compare(stored: Path, saved: Path) -> None:
    """What came is of the same kinds as what JupyterLab's kernel gave to the lesson, cell by cell."""
    wrong = []
    for number, (before, after) in enumerate(zip(outputs(stored), outputs(saved), strict=True), 1):
        kinds = [[(each["output_type"], sorted(each.get("data", ()))) for each in cell] for cell in (before, after)]
        if kinds[0] != kinds[1]:
            wrong.append(f"code cell {number}: {kinds[0]} is stored, {kinds[1]} came")
            wrong += ["".join(each["traceback"]) for each in after if each["output_type"] == "error"]
    if wrong:
        raise StageFailed("\n".join(wrong))


def work_through(window: Window, server: Server, chapter: Chapter) -> None:
    """Open a lesson, run it, read it, and compare what came with what is stored."""
    if window.page.locator(".part.panel").is_visible():
        window.command("View: Toggle Panel Visibility")
    lesson, name = chapter.lesson, f"lesson_{chapter.folder.name}"
    stored, path = pictures(lesson), lesson.relative_to(ROOT).as_posix()
    window.open(path)
    shown = window.until(
        lambda: drawn if len(drawn := shown_pictures(window)) >= stored > 0 else [],
        f"the {stored} pictures that {path} has stored",
    )
    window.say(f"{path} is open; {len(shown)} pictures of its stored outputs are drawn")
    run_all(window)
    window.say(f"{path} has run to its end")
    if (seen := read_through(window, name)) < stored:
        raise StageFailed(f"{path} shows {seen} pictures after the run, not {stored}")
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder, "lesson.ipynb")
        save_as(window, saved)
        compare(lesson, saved)
        window.say(f"{path}: every cell has put out what is stored, in kind; {seen} pictures were seen")
        window.command("View: Close Editor")
        window.until(lambda: not server.debuggers(), "the kernel has ended with its notebook")
