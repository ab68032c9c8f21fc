"""`make test-browser`: the course in a real browser, as a new user meets it.

    python -m tests.course.browser [PART ...] [--shots FOLDER] [--url ADDRESS]

The parts are `start` (the start page), the lesson of a chapter (`03`), all exercises of a chapter (`03x`), `exercise`
(one of them, answered wrong, too), `whole_game`, `primer`, `glossary`, and `book` (the web site); all of them where
none is named. It needs chromium and playwright, and takes half an hour, so it stands outside `make test`.

`--url 'http://localhost:8931/lab?token=fresh'` looks at a JupyterLab that is running, as in a bare system of
`make fresh-machine`, with the course as it is here. Exercises are not for it, because they are started in its folder.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: other browsers.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from course._tools.layout import ROOT, chapters

EXERCISE = "00.3"
PAGES = ("whole_game", "primer", "glossary")
OTHERS = ("start", *PAGES, "exercise", "book")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.course.browser", description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help="as named above; all of them where none is named")
    parser.add_argument("--shots", type=Path, default=ROOT / "build" / "screenshots")
    parser.add_argument("--url", help="of a JupyterLab that is running, with its token; without it, one is started")
    asked = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        return _missing("no chromium on this machine: install one, as with `apt install chromium`")
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return _missing("no playwright in this environment: .venv/bin/pip install playwright")
    numbers = [chapter.number for chapter in chapters()]
    known = {*numbers, *(f"{number}x" for number in numbers), *OTHERS}
    if unknown := set(asked.parts) - known:
        return _missing(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
    if asked.url:
        known = {"start", *PAGES, *numbers}
    if unfit := set(asked.parts) - known:
        return _missing(f"not with --url: {', '.join(sorted(unfit))}; there are {', '.join(sorted(known))}")
    asked.shots.mkdir(parents=True, exist_ok=True)
    wrong = []
    for each in _look(chromium, set(asked.parts) or known, asked.shots, asked.url):
        print(f"WRONG  {each}", flush=True)  # when its part has ended: whoever stops the rest knows it
        wrong.append(each)
    print(f"{len(wrong)} things wrong; screenshots are in {asked.shots}")
    return 1 if wrong else 0


def _missing(text: str) -> int:
    print(f"error: {text}", file=sys.stderr)
    return 2


def _look(chromium: str, parts: set[str], shots: Path, url: str | None) -> Iterator[str]:
    # Only now, for these import playwright.
    from playwright.sync_api import sync_playwright

    from tests.course.browser.book import check_book
    from tests.course.browser.exercise import solve, solve_chapter
    from tests.course.browser.lessons import check_lesson, check_page, check_start_page
    from tests.course.browser.server import jupyterlab, running

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the server and the browser on the way out
    scratch = Path(tempfile.mkdtemp(prefix="browser-", dir=ROOT / "build"))
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            if parts != {"book"}:
                with running(url) if url else jupyterlab(scratch) as lab:
                    if "start" in parts:
                        yield from check_start_page(browser, lab, shots)
                    for name in PAGES:
                        if name in parts:
                            yield from check_page(browser, lab, name, shots)
                    for chapter in chapters():
                        if chapter.number in parts:
                            yield from check_lesson(browser, lab, chapter, shots)
                    if "exercise" in parts:
                        yield from solve(browser, lab, EXERCISE, shots)
                    for chapter in chapters():
                        if f"{chapter.number}x" in parts:
                            yield from solve_chapter(browser, lab, chapter, shots)
            if "book" in parts:
                yield from check_book(browser, scratch / "book", shots)
            browser.close()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
