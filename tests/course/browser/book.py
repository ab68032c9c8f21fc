"""The book as files: every page opens in a browser without a server, on a desk and on a phone, in light and in dark.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: pages of source, and links: `make_book` raises where a link leads nowhere.
"""

from __future__ import annotations

import base64
import re
import time
from pathlib import Path

from playwright.sync_api import Browser, Page

from course._tools.book import make_book

STATE = """() => {
    const width = document.documentElement.clientWidth;
    const scrolls = element => {
        for (let e = element; e; e = e.parentElement) { if (getComputedStyle(e).overflowX !== 'visible') return true; }
    };
    const prose = [...document.querySelectorAll('article')].map(e => {
        const copy = e.cloneNode(true);
        copy.querySelectorAll('code, pre, svg, style, script, noscript').forEach(inner => inner.remove());
        return copy.textContent;
    });
    return {
        blank: [...document.images].filter(i => !i.complete || i.naturalWidth < 20).map(i => i.alt || i.src),
        pictures: document.images.length,
        overflow: document.documentElement.scrollWidth - width,
        sticks_out: [...document.querySelectorAll('article *')]
            .filter(e => e.getBoundingClientRect().right > width + 1 && !scrolls(e))
            .map(e => e.textContent.trim().slice(0, 60)),
        raw: prose.flatMap(text => text.match(/.{0,30}(`|\\*\\*\\w|\\]\\(|<\\/?(b|i|code|div|span)\\b).{0,30}/g) || []),
        height: document.documentElement.scrollHeight,
    };
}"""
# Whether there is an output with a light background, and whether the output is turned round.
BOX = """() => {
    const box = document.querySelector('.paper');
    return [box !== null, box !== null && getComputedStyle(box).filter !== 'none'];
}"""
# In a drawing: words that lie on other words, or that leave the drawing.
WORDS = """() => {
    const svg = document.querySelector('svg'), frame = svg.getBoundingClientRect();
    const words = [...svg.querySelectorAll('text')].filter(e => e.textContent.trim())
        .map(e => [e.textContent, e.getBoundingClientRect()]);
    const leaves = r => r.left < frame.left - 1 || r.right > frame.right + 1 || r.bottom > frame.bottom + 2;
    const out = words.filter(([, r]) => leaves(r)).map(([text]) => `${text} leaves the drawing`);
    words.forEach(([a, p], i) => words.slice(i + 1).forEach(([b, q]) => {
        const width = Math.min(p.right, q.right) - Math.max(p.left, q.left);
        const height = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
        if (width > 2 && height > 4) out.push(`${a} lies on ${b}`);
    }));
    return out;
}"""
SIZES = {"desk": {"width": 1366, "height": 900}, "phone": {"width": 390, "height": 844}}
STRIP = 2600  # pixels: the height of one picture of a page
PATIENCE = 180_000  # milliseconds: on a busy machine, one picture takes longer than the usual half minute


def check_book(browser: Browser, folder: Path, shots: Path) -> list[str]:
    """Make the book in `folder` and open its pages from there; returns what is wrong."""
    start = make_book(folder)
    pages = [each for each in sorted(folder.rglob("*.html")) if not {"source", "_static"} & set(each.parts)]
    wrong = []
    for size, viewport in SIZES.items():
        page = browser.new_page(viewport=viewport)
        page.set_default_timeout(PATIENCE)
        asked: list[str] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        begin = time.monotonic()
        for file in pages:
            name = file.relative_to(folder).with_suffix("").as_posix().replace("/", "_")
            wrong += _look(page, file, f"{name}_{size}", shots)
        wrong += [f"asks the network: {url}" for url in asked if not url.startswith(("file:", "data:"))]
        page.close()
        print(f"book, {size}: {len(pages)} pages in {time.monotonic() - begin:.0f} s", flush=True)
    wrong += (
        _drawings(browser, pages) + _search(browser, start) + _folds(browser, pages) + _theme_button(browser, start)
    )
    return [f"book: {each}" for each in wrong]


def _drawings(browser: Browser, pages: list[Path]) -> list[str]:
    """Every drawing of the pages, looked at alone."""
    page = browser.new_page(viewport=SIZES["desk"])
    wrong = []
    for file in pages:
        for drawing in re.findall(r'"data:image/svg\+xml;base64,([^"]+)"', file.read_text()):
            page.set_content(base64.b64decode(drawing).decode())
            wrong += [f"{file.parent.name}/{file.name}: {each}" for each in page.evaluate(WORDS)]
    page.close()
    return wrong


def _look(page: Page, file: Path, name: str, shots: Path) -> list[str]:
    """Open one page, look at it in light and in dark, and take pictures from top to bottom."""
    viewport = page.viewport_size or SIZES["desk"]
    page.goto(file.as_uri())
    state = page.evaluate(STATE)
    wrong = [f"{name}: a picture is blank: {each}" for each in state["blank"]]
    wrong += [f"{name}: {state['overflow']} pixels wider than the window"] if state["overflow"] > 0 else []
    wrong += [f"{name}: sticks out: {each}" for each in state["sticks_out"]]
    wrong += [f"{name}: marks of markdown are shown: {each}" for each in state["raw"]]
    wrong += [f"{name}: no picture"] if file.name in ("lesson.html", "index.html") and not state["pictures"] else []
    page.set_viewport_size({**viewport, "height": STRIP})
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        has_box, is_turned = page.evaluate(BOX)
        if has_box and is_turned != (theme == "dark"):
            wrong.append(f"{name}: a listing has the colours of the other theme in {theme}")
        for number, top in enumerate(range(0, state["height"], STRIP - 60)):
            page.evaluate(f"window.scrollTo({{top: {top}, behavior: 'instant'}})")
            page.screenshot(path=str(shots / f"book_{name}_{theme}_{number:02d}.png"))
    page.set_viewport_size(viewport)
    page.emulate_media(color_scheme="light")
    return wrong


def _folds(browser: Browser, pages: list[Path]) -> list[str]:
    """The answer to a prediction and the hints of an exercise are closed, and a click opens them."""
    page = browser.new_page(viewport=SIZES["desk"])
    wrong = []
    for file in pages:
        if file.name not in ("lesson.html", "exercises.html"):
            continue
        page.goto(file.as_uri())
        # An answer opens with the words "What came"; other folds of a lesson, as of frames, may be open.
        kind = 'details:has(> summary:has-text("What came"))' if file.name == "lesson.html" else "details.hint"
        folds = page.locator(f"article {kind}")
        place = f"{file.parent.name}/{file.name}"
        if not folds.count():
            wrong.append(f"{place} has nothing folded")
        elif page.locator(f"article {kind}[open]").count():
            wrong.append(f"{place} has an answer or a hint that is open")
        else:
            folds.first.locator("summary").first.click()
            wrong += [] if folds.first.get_attribute("open") is not None else [f"{place}: a click opens nothing"]
    page.close()
    return wrong


def _theme_button(browser: Browser, start: Path) -> list[str]:
    """The button of the page changes the theme, whatever the system's is."""
    page = browser.new_page(viewport=SIZES["desk"], color_scheme="light")
    page.goto(start.as_uri())
    button, body = page.locator(".theme-toggle").locator("visible=true").first, page.locator("body")
    seen = []
    for _ in range(3):
        button.click()
        seen.append(body.get_attribute("data-theme"))
    page.close()
    return [] if {"light", "dark"} <= set(seen) else [f"the button of the theme leads to {seen}"]


# What the first result of a search in the course is: the page about the question, or the file of source that was named.
FOUND_FIRST = {
    "computeStride": "02 Tensor",
    "how do I set a breakpoint": "04 Debugging",
    "TensorIterator": "cpp/ATen/TensorIterator.h",
    "Dispatcher.h": "cpp/ATen/core/dispatch/Dispatcher.h",
}


def _search(browser: Browser, start: Path) -> list[str]:
    """Search for words and names, without a server, and open the first result."""
    page = browser.new_page()
    wrong = []
    for question, expected in FOUND_FIRST.items():
        page.goto(start.as_uri())
        page.fill("input[name=q]", question)
        page.press("input[name=q]", "Enter")
        first = page.locator("#search-results li a").first
        first.wait_for(timeout=20000)
        found = first.text_content() or ""
        wrong += [] if expected in found else [f"search for {question} finds {found} first"]
        first.click()
        page.wait_for_load_state()
        wrong += [] if expected in page.content() else [f"the first result for {question} leads to {page.url}"]
    page.close()
    return wrong
