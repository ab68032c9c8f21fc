"""Every lesson, opened from the start page and run: no traceback, every picture there, nothing left waiting.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: reading; the screenshots are for somebody to look at.
"""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import Browser, Page

from course._tools.layout import Chapter
from tests.course.browser import notebooks
from tests.course.browser.server import Lab

SCREEN = {"width": 1400, "height": 1000}


def check_lessons(browser: Browser, lab: Lab, wanted: list[Chapter], shots: Path) -> list[str]:
    """Run the start page and the lessons of `wanted`; returns what is wrong."""
    page = browser.new_page(viewport=SCREEN)
    page.goto(lab.url())
    wrong = _look(page, "index", shots)
    page.close()
    for chapter in wanted:
        page = browser.new_page(viewport=SCREEN)
        page.goto(lab.url())
        notebooks.wait_until_open(page)
        row = page.locator(f"{notebooks.PANEL} tr", has_text=chapter.title)
        row.locator("a", has_text="lesson").click()
        page.wait_for_selector(f'{notebooks.PANEL} h1:has-text("{chapter.title}")', timeout=notebooks.PATIENCE * 1000)
        wrong += _look(page, chapter.folder.name, shots)
        page.close()
    return wrong


def _look(page: Page, name: str, shots: Path) -> list[str]:
    notebooks.wait_until_open(page)
    stored = page.evaluate(notebooks.STATE)
    state, seconds = notebooks.run_all(page)
    notebooks.screenfuls(page, shots, name)
    print(f"{name}: {seconds:.0f} s, {len(state['pictures'])} pictures, load {os.getloadavg()[0]:.1f}", flush=True)
    wrong = [f"a traceback is shown: {error[:300]}" for error in state["errors"]]
    wrong += [f"{state['waiting']} cells did not end"] if state["waiting"] else []
    wrong += [f"a picture has no size: {size}" for size in state["pictures"] if min(size) < 20]
    wrong += ["no picture is shown"] if not state["pictures"] else []
    wrong += ["stored pictures are not shown before the cells run"] if not stored["pictures"] else []
    return [f"{name}: {each}" for each in wrong]
