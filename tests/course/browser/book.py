"""The book as files: every page opens in a browser without a server, its pictures are drawn, its links lead somewhere.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: pages of source, whose anchors `tests/course/_tools/test_book.py` holds.
"""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

from course._tools.book import make_book

STATE = """() => ({
    blank: [...document.images].filter(image => !image.complete || image.naturalWidth < 20).map(i => i.alt || i.src),
    pictures: document.images.length,
    links: [...document.links].map(link => link.href.split('#')[0]).filter(href => href.startsWith('file:')),
    anchors: [...document.querySelectorAll('a[href^="#"]')].map(link => decodeURIComponent(link.hash.slice(1))),
    ids: [...document.querySelectorAll('[id]')].map(element => element.id),
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    height: document.documentElement.scrollHeight,
})"""


def check_book(browser: Browser, folder: Path, shots: Path) -> list[str]:
    """Make the book in `folder` and open its pages from there; returns what is wrong."""
    wrong = []
    page = browser.new_page(viewport={"width": 1200, "height": 1000})
    pages = [each for each in make_book(folder) if "source" not in each.relative_to(folder).parts]
    for file in pages:
        page.goto(file.as_uri())
        state = page.evaluate(STATE)
        name = file.relative_to(folder / "course").with_suffix("").as_posix().replace("/", "_")
        gone = sorted({href for href in state["links"] if not Path(href.removeprefix("file://")).exists()})
        nowhere = sorted(set(state["anchors"]) - set(state["ids"]) - {""})
        wrong += [f"{name}: a picture is blank: {each}" for each in state["blank"]]
        wrong += [f"{name}: leads nowhere: {each}" for each in [*gone, *nowhere]]
        wrong += [f"{name}: {state['overflow']} pixels wider than the window"] if state["overflow"] > 0 else []
        wrong += [f"{name}: no picture"] if file.name in ("lesson.html", "index.html") and not state["pictures"] else []
        print(f"{name}: {state['pictures']} pictures, {len(state['links'])} links to files", flush=True)
        for number, top in enumerate(range(0, state["height"], 940)):
            page.evaluate(f"window.scrollTo(0, {top})")
            page.screenshot(path=str(shots / f"book_{name}_{number:02d}.png"))
    page.close()
    return wrong
