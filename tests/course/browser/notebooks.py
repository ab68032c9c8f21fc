"""What a learner does with a notebook in JupyterLab: open it, run it, write into a cell, look.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: which notebooks, and what must be seen in them.
"""

from __future__ import annotations

import time
from pathlib import Path

from playwright.sync_api import Locator, Page

PATIENCE = 300  # seconds: other people may compute on this machine too
PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"  # of several notebooks that are open, the one in front
# Text is raw where it shows the marks of markdown. Code, and what a program prints, may have such marks.
STATE = """() => {
    const front = document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden)');
    const all = selector => [...front.querySelectorAll('.jp-Notebook ' + selector)];
    const start = element => element.textContent.trim().slice(0, 60);
    const prompts = all('.jp-CodeCell').map(cell => cell.querySelector('.jp-InputPrompt').textContent);
    const pictures = all('.jp-OutputArea-output img, .jp-OutputArea-output svg');
    const screen = front.querySelector('.jp-WindowedPanel-outer').clientHeight;
    const prose = all('.jp-MarkdownOutput, .jp-RenderedHTML').map(e => {
        const copy = e.cloneNode(true);
        copy.querySelectorAll('code, pre, svg, style').forEach(inner => inner.remove());
        return copy.textContent;
    });
    return {
        waiting: prompts.filter(prompt => prompt.includes('*') || prompt === '[ ]:').length,
        errors: all('[data-mime-type="application/vnd.jupyter.error"]').map(error => error.textContent),
        pictures: pictures.map(p => { const box = p.getBoundingClientRect(); return [box.width, box.height]; }),
        blank: all('img').filter(i => !i.complete || i.naturalWidth < 20).map(i => i.alt || i.src.slice(0, 60)),
        wide: all('.jp-OutputArea-output').filter(o => o.scrollWidth > o.clientWidth + 2).map(start),
        tall: all('.jp-OutputArea-output').filter(o => o.getBoundingClientRect().height > screen).map(start),
        raw: prose.flatMap(text => text.match(/.{0,30}(`|\\*\\*\\w|\\]\\(|<\\/?(b|i|code|div|span)\\b).{0,30}/g) || []),
    };
}"""
# What has to be scrolled sideways to be read, and by how many pixels.
SIDEWAYS = """() => {
    const front = document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden)');
    const parts = ['.jp-WindowedPanel-outer', '.cm-scroller', '.jp-OutputArea-output', '.jp-OutputArea-output *',
                   '.jp-MarkdownOutput', '.jp-MarkdownOutput *'];
    return [...front.querySelectorAll(parts.join(', '))]
        .filter(e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX))
        .filter(e => e.clientWidth && e.scrollWidth > e.clientWidth + 2)
        .map(e => `${e.scrollWidth - e.clientWidth} pixels: ${e.textContent.trim().slice(0, 60)}`);
}"""
SMALL = {"width": 1000, "height": 700}  # of many laptops; the list of files is open at the left
# Whether the tab of the notebook in front has the mark of a document that was changed and not saved.
CHANGED = "() => document.querySelector('#jp-main-dock-panel .lm-TabBar-tab.lm-mod-current.jp-mod-dirty') !== null"


def wait_until_open(page: Page) -> None:
    """Wait until a notebook is laid out and its kernel waits for work."""
    page.set_default_timeout(PATIENCE * 1000)  # for what comes later, as for the other theme
    page.wait_for_selector(f"{PANEL} .jp-CodeCell", timeout=PATIENCE * 1000)
    page.wait_for_selector("text=/Python 3 .*\\| Idle/", timeout=PATIENCE * 1000)  # the status bar


def sideways(page: Page) -> list[str]:
    """What scrolls sideways in the notebook in front, in a small window."""
    before = page.viewport_size
    page.set_viewport_size(SMALL)
    page.wait_for_timeout(1500)
    wrong = [f"scrolls sideways in a small window, by {each}" for each in page.evaluate(SIDEWAYS)]
    if before:
        page.set_viewport_size(before)
    return wrong


def run_all(page: Page) -> None:
    """Run every cell by the menu."""
    deadline = time.monotonic() + PATIENCE
    page.click('.lm-MenuBar-itemLabel:text("Run")')
    page.click('.lm-Menu-itemLabel:text-is("Run All Cells")')
    page.wait_for_timeout(1000)
    while page.evaluate(STATE)["waiting"] and time.monotonic() < deadline:
        page.wait_for_timeout(500)
    page.wait_for_timeout(1000)  # the last outputs are laid out


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
    return _end(page, cell)


def run_selected(page: Page, cell: Locator, *, go_on: bool) -> str:
    """Run the cell that is selected, which may have its source folded; select the next cell, where there is one."""
    page.keyboard.press("Shift+Enter" if go_on else "Control+Enter")
    return _end(page, cell)


def _end(page: Page, cell: Locator) -> str:
    page.wait_for_timeout(200)
    prompt = cell.locator(".jp-InputPrompt")
    deadline = time.monotonic() + PATIENCE
    while "*" in (prompt.text_content() or "") and time.monotonic() < deadline:
        page.wait_for_timeout(200)
    return "\n".join(cell.locator(".jp-OutputArea-output").all_text_contents())


def save(page: Page) -> None:
    """Save the notebook in front, as with Ctrl-S."""
    page.keyboard.press("Control+S")
    page.wait_for_timeout(2000)


def faults(page: Page) -> list[str]:
    """What nobody should see in a notebook that has run: an error, a blank picture, a cut output."""
    state = page.evaluate(STATE)
    wrong = [f"a traceback is shown: {error[:300]}" for error in state["errors"]]
    wrong += [f"{state['waiting']} cells did not end"] if state["waiting"] else []
    wrong += [f"a picture has no size: {size}" for size in state["pictures"] if min(size) < 20]
    wrong += [f"a picture is blank: {name}" for name in state["blank"]]
    wrong += [f"an output is wider than its cell: {text}" for text in state["wide"]]
    wrong += [f"an output is taller than the screen: {text}" for text in state["tall"]]
    return wrong + [f"marks of markdown are shown: {text}" for text in state["raw"]]


def screenfuls(page: Page, shots: Path, name: str) -> None:
    """The notebook in front as pictures, from top to bottom, in light and in dark."""
    panel = page.locator(f"{PANEL} .jp-WindowedPanel-outer").first
    step = panel.evaluate("e => e.clientHeight") - 60
    for theme, is_light in (("light", "true"), ("dark", "false")):
        page.emulate_media(color_scheme=theme)  # JupyterLab follows the system's theme
        page.wait_for_selector(f"body[data-jp-theme-light={is_light}]", state="attached")
        page.wait_for_timeout(1000)
        panel.evaluate("e => e.scrollTo(0, 0)")
        last = cells(page).last.bounding_box() or {"y": 0, "height": 0}  # below it is room to scroll
        for number, top in enumerate(range(0, int(last["y"] + last["height"]) - 90, step)):
            panel.evaluate(f"e => e.scrollTo(0, {top})")
            page.wait_for_timeout(200)
            page.screenshot(path=str(shots / f"{name}_{theme}_{number:02d}.png"))
    page.emulate_media(color_scheme="light")
