"""Every lesson, opened from the start page, predicted and run cell by cell: no traceback, pictures, no end of a screen.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: reading; the screenshots are for somebody to look at.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

from playwright.sync_api import Browser, Page

from course._tools import layout, tags
from course._tools.layout import Chapter, chapters
from course._tools.notebook import read
from tests.course.browser import notebooks
from tests.course.browser.server import Lab

SCREEN = {"width": 1400, "height": 1000}
COLUMNS = ["", "chapter", "time", "difficulty", "exercises"]


def check_start_page(browser: Browser, lab: Lab, shots: Path) -> list[str]:
    """The page that `make lab` opens, and the list of files; returns what is wrong."""
    page = browser.new_page(viewport=SCREEN)
    page.goto(lab.url())
    wrong = _read(page, lab.work / "index.ipynb", "index", shots)
    columns = page.locator(f"{notebooks.PANEL} table").first.locator("th").all_text_contents()
    if columns != COLUMNS:
        wrong.append(f"index: the columns are {columns}")
    if not page.locator(f"{notebooks.PANEL} p", has_text="Next:").count():
        wrong.append("index: no next step")
    if page.locator(".Toastify__toast, .jp-Dialog").count():
        wrong.append("index: a question or a note pops up")
    page.goto(f"{lab.url()}&file-browser-path=/course")
    page.locator(".jp-DirListing-item", has_text="_tools").wait_for(timeout=notebooks.PATIENCE * 1000)
    listed = page.locator(".jp-DirListing-itemText").all_text_contents()
    if {"_solutions", chapters()[0].folder.name, "index.ipynb"} & set(listed):
        wrong.append(f"the list of files has the course's own notebooks beside the learner's: {listed}")
    page.screenshot(path=str(shots / "index_files.png"))
    page.close()
    return wrong + _check_small(browser, lab, shots)


def _check_small(browser: Browser, lab: Lab, shots: Path) -> list[str]:
    """The start page in a small window: the next step is in sight, and no title of a chapter takes three lines."""
    page = browser.new_page(viewport=notebooks.SMALL)
    page.goto(lab.url())
    notebooks.wait_until_open(page)
    page.screenshot(path=str(shots / "index_small.png"))
    following = page.locator(f"{notebooks.PANEL} p", has_text="Next:").locator("a").first.bounding_box()
    wrong = [] if following and following["y"] < 500 else [f"index: the next step is not in sight: {following}"]
    for title in page.locator(f"{notebooks.PANEL} table").first.locator("td:nth-child(2) a").all():
        lines = title.evaluate("e => e.getClientRects().length")
        wrong += [f"index: a title has {lines} lines: {title.text_content()}"] if lines > 2 else []
    page.close()
    return wrong


def check_lesson(browser: Browser, lab: Lab, chapter: Chapter, shots: Path) -> list[str]:
    """Open a lesson from the start page and work through it; returns what is wrong."""
    page = browser.new_page(viewport=SCREEN)
    page.goto(lab.url())
    notebooks.wait_until_open(page)
    row = page.locator(f"{notebooks.PANEL} tr", has_text=chapter.title)
    row.locator("a").first.click()
    page.wait_for_selector(f'{notebooks.PANEL} h1:has-text("{chapter.title}")', timeout=notebooks.PATIENCE * 1000)
    before, name = _changed_files(), chapter.folder.name
    wrong = _read(page, lab.work / name / f"{name}.ipynb", name, shots)
    tab = page.locator("#jp-main-dock-panel .lm-TabBar-tab.lm-mod-current").text_content() or ""
    if name not in tab:
        wrong.append(f"the tab of the lesson does not name the chapter: {tab}")
    notebooks.save(page)
    page.close()
    if _changed_files() != before:
        wrong.append(f"reading it has changed files of the repository: {_changed_files()}")
    return wrong


def _changed_files() -> str:
    """What git says of the files of the repository."""
    return subprocess.run(["git", "status", "--porcelain"], cwd=layout.ROOT, capture_output=True, text=True).stdout


def check_page(browser: Browser, lab: Lab, name: str, shots: Path) -> list[str]:
    """Work through the primer or the glossary, opened from the start page; returns what is wrong."""
    page = browser.new_page(viewport=SCREEN)
    page.goto(lab.url())
    notebooks.wait_until_open(page)
    page.locator(f'{notebooks.PANEL} .jp-MarkdownOutput a[href*="{name}.ipynb"]').first.click()
    page.locator(f".lm-TabBar-tab.lm-mod-current[title*='{name}.ipynb']").wait_for(timeout=notebooks.PATIENCE * 1000)
    wrong = _read(page, lab.work / f"{name}.ipynb", name, shots)
    page.close()
    return [each for each in wrong if name != "glossary" or "taller than the screen" not in each]  # its table is long


def answered(source: str) -> str:
    """A prediction with an answer to everything that it asks for, right or not."""
    return re.sub(r'(\w=)(\.\.\.|"")', r'\1"a"', source)


def _read(page: Page, copy: Path, name: str, shots: Path) -> list[str]:
    """Work through the learner's copy of a notebook, which has no stored outputs below predictions."""
    notebooks.wait_until_open(page)
    stored = page.evaluate(notebooks.STATE)
    has_pictures = "image/svg+xml" in copy.read_text()
    wrong = ["stored pictures are not shown before the cells run"] if has_pictures and not stored["pictures"] else []
    wrong += ["it is marked as changed when it is opened"] if page.evaluate(notebooks.CHANGED) else []
    wrong += notebooks.sideways(page)
    cells, shown, slowest = read(copy)["cells"], notebooks.cells(page), (0.0, "")
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
    wrong += notebooks.faults(page) + notebooks.sideways(page)
    notebooks.screenfuls(page, shots, name)
    return [f"{name}: {each}" for each in wrong]
