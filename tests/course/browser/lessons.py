"""Every lesson, opened from the start page, predicted and run cell by cell: no traceback, pictures, no end of a screen.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: reading; the screenshots are for somebody to look at.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from playwright.sync_api import Browser, Page

from course._tools import layout, tags
from course._tools.layout import Chapter, chapters
from course._tools.notebook import read
from tests.course.browser import notebooks
from tests.course.browser.server import Lab

SCREEN = {"width": 1400, "height": 1000}
COLUMNS = ["", "chapter", "time", "difficulty", "passed", "open"]


def check_start_page(browser: Browser, lab: Lab, shots: Path) -> list[str]:
    """The page that `make lab` opens, and the list of files; returns what is wrong."""
    page = browser.new_page(viewport=SCREEN)
    page.goto(lab.url())
    wrong = _read(page, layout.COURSE / "index.ipynb", "index", shots)
    columns = page.locator(f"{notebooks.PANEL} table").first.locator("th").all_text_contents()
    if columns != COLUMNS:
        wrong.append(f"index: the columns are {columns}")
    if not page.locator(f"{notebooks.PANEL} p", has_text="Next:").count():
        wrong.append("index: no next step")
    if page.locator(".Toastify__toast, .jp-Dialog").count():
        wrong.append("index: a question or a note pops up")
    page.goto(f"{lab.url()}&file-browser-path=/course/{chapters()[0].folder.name}")
    page.locator(".jp-DirListing-item", has_text="lesson.ipynb").wait_for(timeout=notebooks.PATIENCE * 1000)
    listed = page.locator(".jp-DirListing-itemText").all_text_contents()
    if "_solutions" in listed:
        wrong.append(f"the list of files has the solutions: {listed}")
    page.screenshot(path=str(shots / "index_files.png"))
    page.close()
    return wrong


def check_lesson(browser: Browser, lab: Lab, chapter: Chapter, shots: Path) -> list[str]:
    """Open a lesson from the start page and work through it; returns what is wrong."""
    page = browser.new_page(viewport=SCREEN)
    page.goto(lab.url())
    notebooks.wait_until_open(page)
    row = page.locator(f"{notebooks.PANEL} tr", has_text=chapter.title)
    row.locator("a", has_text="lesson").click()
    page.wait_for_selector(f'{notebooks.PANEL} h1:has-text("{chapter.title}")', timeout=notebooks.PATIENCE * 1000)
    wrong = _read(page, chapter.lesson, chapter.folder.name, shots)
    page.close()
    return wrong


def check_page(browser: Browser, lab: Lab, name: str, shots: Path) -> list[str]:
    """Work through the primer or the glossary, opened from the start page; returns what is wrong."""
    page = browser.new_page(viewport=SCREEN)
    page.goto(lab.url())
    notebooks.wait_until_open(page)
    page.locator(f'{notebooks.PANEL} .jp-MarkdownOutput a[href*="{name}.ipynb"]').first.click()
    page.locator(f".lm-TabBar-tab.lm-mod-current[title*='{name}.ipynb']").wait_for(timeout=notebooks.PATIENCE * 1000)
    wrong = _read(page, layout.COURSE / f"{name}.ipynb", name, shots)
    page.close()
    return [each for each in wrong if name != "glossary" or "taller than the screen" not in each]  # its table is long


def answered(source: str) -> str:
    """A prediction with an answer to everything that it asks for, right or not."""
    return re.sub(r'(\w=)(\.\.\.|"")', r'\1"a"', source)


def _read(page: Page, file: Path, name: str, shots: Path) -> list[str]:
    notebooks.wait_until_open(page)
    stored = page.evaluate(notebooks.STATE)
    has_pictures = "image/svg+xml" in file.read_text()
    wrong = ["stored pictures are not shown before the cells run"] if has_pictures and not stored["pictures"] else []
    wrong += ["it is marked as changed when it is opened"] if page.evaluate(notebooks.CHANGED) else []
    cells, shown, slowest = read(file)["cells"], notebooks.cells(page), (0.0, "")
    begin = time.monotonic()
    shown.first.locator(".jp-MarkdownOutput").click()
    for position, cell in enumerate(cells):
        start = time.monotonic()
        if "predict" in tags.of_cell(cell):
            notebooks.write(page, shown.nth(position), answered(cell["source"]))
        notebooks.run_selected(page, shown.nth(position), go_on=position + 1 < len(cells))
        slowest = max(slowest, (time.monotonic() - start, cell["source"].splitlines()[0]))
    seconds, load = time.monotonic() - begin, os.getloadavg()[0]
    state = page.evaluate(notebooks.STATE)
    print(f"{name}: {seconds:.0f} s, {len(state['pictures'])} pictures, load {load:.1f}", flush=True)
    print(f"    slowest: {slowest[0]:.0f} s, {slowest[1][:80]}", flush=True)
    reveals = sum("reveal" in tags.of_cell(cell) for cell in cells)
    if page.locator(f"{notebooks.PANEL} .jp-OutputArea-output details[open]").count() < reveals:
        wrong.append("an answer to a prediction stays folded, although the prediction is written")
    red = '[data-mime-type="application/vnd.jupyter.stderr"]'  # as when a tool of the debugger fails
    for position, cell in enumerate(cells):
        if "raises-exception" not in cell["metadata"].get("tags", []):
            wrong += [f"red text is shown: {text[:200]}" for text in shown.nth(position).locator(red).all_inner_texts()]
    wrong += notebooks.faults(page)
    notebooks.screenfuls(page, shots, name)
    return [f"{name}: {each}" for each in wrong]
