"""What a learner does with a notebook in JupyterLab: open it, run it, write into a cell, look.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: which notebooks, and what must be seen in them.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page

PATIENCE = 300  # seconds: other people may compute on this machine too
PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"  # of several notebooks that are open, the one in front
STATE = """() => {
    const front = document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden)');
    const cells = [...front.querySelectorAll('.jp-Notebook .jp-CodeCell')];
    const prompts = cells.map(cell => cell.querySelector('.jp-InputPrompt').textContent);
    const errors = [...front.querySelectorAll('[data-mime-type="application/vnd.jupyter.error"]')];
    const pictures = [...front.querySelectorAll('.jp-OutputArea-output img, .jp-OutputArea-output svg')];
    const wide = [...front.querySelectorAll('.jp-OutputArea-output')].filter(o => o.scrollWidth > o.clientWidth + 2);
    return {
        waiting: prompts.filter(prompt => prompt.includes('*') || prompt === '[ ]:').length,
        errors: errors.map(error => error.textContent),
        pictures: pictures.map(p => { const box = p.getBoundingClientRect(); return [box.width, box.height]; }),
        wide: wide.map(output => output.textContent.trim().slice(0, 60)),
    };
}"""


def wait_until_open(page: Page) -> None:
    """Wait until a notebook is laid out and its kernel waits for work."""
    page.wait_for_selector(f"{PANEL} .jp-CodeCell", timeout=PATIENCE * 1000)
    page.wait_for_selector("text=/Python 3 .*\\| Idle/", timeout=PATIENCE * 1000)  # the status bar


def run_all(page: Page) -> tuple[dict[str, Any], float]:
    """Run every cell; returns what is seen then, and the seconds it took."""
    begin = time.monotonic()
    page.click('.lm-MenuBar-itemLabel:text("Run")')
    page.click('.lm-Menu-itemLabel:text-is("Run All Cells")')
    page.wait_for_timeout(1000)
    while page.evaluate(STATE)["waiting"] and time.monotonic() < begin + PATIENCE:
        page.wait_for_timeout(500)
    seconds = time.monotonic() - begin
    page.wait_for_timeout(1000)  # the last outputs are laid out
    return page.evaluate(STATE), seconds


def cells(page: Page) -> Locator:
    """All cells of the notebook in front, text and code."""
    return page.locator(f"{PANEL} .jp-Notebook .jp-Cell")


def write(page: Page, cell: Locator, source: str) -> None:
    """Put `source` in the place of what the cell holds, with the keyboard."""
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(source)


def run(page: Page, cell: Locator) -> str:
    """Run one cell, as with Ctrl-Enter; returns the text of what it shows."""
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    page.wait_for_timeout(300)
    prompt = cell.locator(".jp-InputPrompt")
    deadline = time.monotonic() + PATIENCE
    while "*" in (prompt.text_content() or "") and time.monotonic() < deadline:
        page.wait_for_timeout(300)
    page.wait_for_timeout(500)
    return "\n".join(cell.locator(".jp-OutputArea-output").all_text_contents())


def save(page: Page) -> None:
    """Save the notebook in front, as with Ctrl-S."""
    page.keyboard.press("Control+S")
    page.wait_for_timeout(2000)


def screenfuls(page: Page, shots: Path, name: str) -> None:
    """The notebook in front as pictures, from top to bottom."""
    panel = page.locator(f"{PANEL} .jp-WindowedPanel-outer").first
    panel.evaluate("e => e.scrollTo(0, 0)")
    last = cells(page).last.bounding_box() or {"y": 0, "height": 0}  # below it is room to scroll, and nothing to see
    height = int(last["y"] + last["height"]) - 90
    step = panel.evaluate("e => e.clientHeight") - 60
    for number, top in enumerate(range(0, height, step)):
        panel.evaluate(f"e => e.scrollTo(0, {top})")
        page.wait_for_timeout(300)
        page.screenshot(path=str(shots / f"{name}_{number:02d}.png"))
