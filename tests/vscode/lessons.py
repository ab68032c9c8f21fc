"""Lessons of the course in the editor's notebook view: prose, sources, and the stored outputs with their pictures.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Left out: running them: code-server comes without the *Jupyter* extension, which starts kernels.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

from playwright.sync_api import Error as BrowserError
from playwright.sync_api import FloatRect

from tests.debug.launch import ROOT
from tests.vscode.server import Server
from tests.vscode.window import Window

LESSONS = ("course/00_setup", "course/03_operator", "course/05_autograd_graph")
PICTURES = ".output_container img, .output_container svg"
# A picture in what a cell has put out: as a file, or drawn in HTML.
PICTURE = re.compile("^image/|<svg|<img")


def stored_pictures(notebook: str) -> int:
    """How many outputs of a notebook hold a picture."""
    cells = json.loads((ROOT / notebook).read_text())["cells"]
    outputs: list[dict[str, Any]] = [output for cell in cells for output in cell.get("outputs", ())]
    contents = [[kind + "".join(text) for kind, text in output.get("data", {}).items()] for output in outputs]
    return sum(any(PICTURE.search(content) for content in each) for each in contents)


def shown_pictures(window: Window) -> list[FloatRect]:
    """Where in the window the pictures of outputs have been drawn, in view or not: in a frame of their own."""
    boxes = []
    for frame in window.page.frames:
        with suppress(BrowserError):  # the editor fills that frame anew: look again later
            boxes += [picture.bounding_box() for picture in frame.query_selector_all(PICTURES)]
    return [box for box in boxes if box and min(box["width"], box["height"]) > 20]


def scroll_to_a_picture(window: Window) -> None:
    view = window.page.locator(".notebookOverlay:visible").bounding_box()
    assert view is not None
    top, bottom = view["y"], view["y"] + view["height"]
    window.page.mouse.move(view["x"] + view["width"] / 2, (top + bottom) / 2)

    def in_view() -> bool:
        first = min(shown_pictures(window), key=lambda box: box["y"], default=None)
        if first is None:
            return False
        if top <= first["y"] < bottom - 200:
            return True
        window.page.mouse.wheel(0, 100 if first["y"] > top else -100)
        return False

    window.until(in_view, "a picture in view")


def read_lesson(window: Window, number: int, folder: str) -> None:
    notebook = f"{folder}/lesson.ipynb"
    stored = stored_pictures(notebook)
    window.open(notebook)
    shown = window.until(
        lambda: drawn if len(drawn := shown_pictures(window)) >= stored > 0 else [],
        f"the {stored} pictures that {notebook} has stored",
    )
    name = folder.rpartition("/")[2]
    window.shot(f"{number}_lesson_{name}", f"{notebook} is open; {len(shown)} pictures of its stored outputs are drawn")
    scroll_to_a_picture(window)
    window.shot(f"{number}_picture_{name}", f"the first picture of {notebook}")
    window.command("View: Close Editor")


def read_lessons(window: Window, server: Server) -> None:
    if window.page.locator(".part.panel").is_visible():
        window.command("View: Toggle Panel Visibility")
    for number, folder in enumerate(LESSONS, 11):
        read_lesson(window, number, folder)
