"""Run a lesson in a real browser: every cell executes, no traceback is shown, and every picture is there to be seen.

    python tests/course/browser_lesson.py [LESSON ...] [--shots FOLDER]

It needs playwright and a chromium on this machine, so it stands outside the test suite.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted(file.relative_to(ROOT).as_posix() for file in (ROOT / "course").glob("[0-9][0-9]_*/lesson.ipynb"))
DEFAULT = ["course/index.ipynb", *LESSONS]
TOKEN = "lesson"
# All cells are laid out, not only those in view; nothing is written back; no news and no tour.
SETTINGS = {
    "notebook-extension/tracker": {"windowingMode": "none"},
    "docmanager-extension/plugin": {"autosave": False},
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}
STATE = """() => {
    const cells = [...document.querySelectorAll('.jp-Notebook .jp-CodeCell')];
    const prompts = cells.map(cell => cell.querySelector('.jp-InputPrompt').textContent);
    const errors = [...document.querySelectorAll('[data-mime-type="application/vnd.jupyter.error"]')];
    const pictures = [...document.querySelectorAll('.jp-OutputArea-output img, .jp-OutputArea-output svg')];
    return {
        waiting: prompts.filter(prompt => prompt.includes('*') || prompt === '[ ]:').length,
        errors: errors.map(error => error.textContent),
        pictures: pictures.map(p => { const box = p.getBoundingClientRect(); return [box.width, box.height]; }),
    };
}"""


@contextmanager
def jupyterlab(settings: Path) -> Iterator[str]:
    """A server on a free port, rooted at the checkout; ends with the block."""
    for name, content in SETTINGS.items():
        file = settings / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = [
        f"--port={port}",
        "--no-browser",
        "--allow-root",
        f"--IdentityProvider.token={TOKEN}",
        "--log-level=ERROR",
    ]
    environment = {**os.environ, "JUPYTERLAB_SETTINGS_DIR": str(settings)}
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={ROOT}", *options]
    server = subprocess.Popen(command, env=environment)
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(120):
            try:
                urllib.request.urlopen(f"{address}/api?token={TOKEN}", timeout=2)
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.5)
        yield address
    finally:
        server.terminate()
        server.wait(20)


def run_lesson(page: Page, address: str, lesson: str, shots: Path) -> list[str]:
    """Open a lesson, run it from top to bottom, take screenshots; returns what is wrong with it."""
    page.goto(f"{address}/lab/tree/{lesson}?token={TOKEN}&reset")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=90_000)
    page.wait_for_selector("text=/Python 3 .*\\| Idle/", timeout=60_000)  # the status bar: the kernel is connected
    stored = page.evaluate(STATE)
    page.click('.lm-MenuBar-itemLabel:text("Run")')
    page.click('.lm-Menu-itemLabel:text-is("Run All Cells")')
    page.wait_for_timeout(2000)
    deadline = time.monotonic() + 240
    while (state := page.evaluate(STATE))["waiting"] and time.monotonic() < deadline:
        page.wait_for_timeout(1000)
    page.wait_for_timeout(1000)
    state = page.evaluate(STATE)
    take_screenshots(page, shots, lesson)
    wrong = [f"a traceback is shown: {error[:300]}" for error in state["errors"]]
    wrong += [f"{state['waiting']} cells did not end"] if state["waiting"] else []
    wrong += [f"a picture has no size: {size}" for size in state["pictures"] if min(size) < 20]
    wrong += ["no picture is shown"] if not state["pictures"] else []
    wrong += ["stored pictures are not shown before the cells run"] if not stored["pictures"] else []
    return wrong


def take_screenshots(page: Page, shots: Path, lesson: str) -> None:
    """The notebook in screenfuls, from top to bottom."""
    name = Path(lesson).with_suffix("").as_posix().replace("/", "_")
    panel = page.locator(".jp-WindowedPanel-outer").first
    height = panel.evaluate("e => e.scrollHeight")
    step = panel.evaluate("e => e.clientHeight") - 60
    for number, top in enumerate(range(0, height, step)):
        panel.evaluate(f"e => e.scrollTo(0, {top})")
        page.wait_for_timeout(300)
        page.screenshot(path=str(shots / f"{name}_{number:02d}.png"))


def main() -> int:
    parser = argparse.ArgumentParser(description="Run lessons in a real browser.")
    parser.add_argument("lessons", nargs="*", default=DEFAULT)
    parser.add_argument("--shots", type=Path, default=ROOT / "build" / "screenshots")
    asked = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("no chromium on this machine: install one, as `apt install chromium`", file=sys.stderr)
        return 2
    asked.shots.mkdir(parents=True, exist_ok=True)
    failed = False
    with (
        tempfile.TemporaryDirectory() as settings,
        jupyterlab(Path(settings)) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for lesson in asked.lessons:
            page = browser.new_page(viewport={"width": 1400, "height": 1000})
            start = time.monotonic()
            wrong = run_lesson(page, address, lesson, asked.shots)
            print(f"{lesson}: {'as it should be' if not wrong else 'WRONG'} ({time.monotonic() - start:.0f} s)")
            for each in wrong:
                print(f"  {each}")
            failed |= bool(wrong)
            page.close()
        browser.close()
    print(f"screenshots: {asked.shots}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
