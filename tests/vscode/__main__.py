"""A real editor in a real browser: both languages debugged to a clean end, two chapters run and solved.

    python -m tests.vscode [debugging] [arithmetic] [meter] [norm] [ranks] [exercise] [04] [04x] --extension=VSIX

`make test-vscode` runs all of them. `meter` is the hunt of chapter 04, and `norm` is the walk of chapter 08.
`ranks` are the two ranks of chapter 12. `04` is the lesson of that chapter, and `04x` are its exercises.

Mirrors: nothing in PyTorch: it tests no editor.
Left out: other browsers than Chromium; other builds of VS Code than code-server.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Error as BrowserError
from playwright.sync_api import sync_playwright

from course._tools.layout import find_chapter
from tests.debug.launch import ROOT
from tests.vscode.arithmetic import stop_on_arithmetic
from tests.vscode.debugging import debug_both_languages
from tests.vscode.exercise import solve_chapter, solve_exercise
from tests.vscode.lessons import work_through
from tests.vscode.meter import hunt_the_wrong_number
from tests.vscode.one_step import follow_one_step
from tests.vscode.ranks import debug_two_ranks
from tests.vscode.server import MARK, code_server
from tests.vscode.window import StageFailed, Window

# Of the chapters, one whose lesson shows every kind of output, and the chapter about debugging.
CHAPTERS = [find_chapter(number) for number in ("02", "04")]
PARTS = {
    "debugging": debug_both_languages,
    "arithmetic": stop_on_arithmetic,
    "meter": hunt_the_wrong_number,
    "norm": follow_one_step,
    "ranks": debug_two_ranks,
    "exercise": solve_exercise,
    **{chapter.number: partial(work_through, chapter=chapter) for chapter in CHAPTERS},
    **{f"{chapter.number}x": partial(solve_chapter, chapter=chapter) for chapter in CHAPTERS},
}


def give_up(number: int, frame: Any) -> None:
    """As Ctrl-C does: what was started is ended on the way out."""
    raise KeyboardInterrupt


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.vscode", description="Drive the editor in a browser.")
    parser.add_argument("parts", nargs="*", help=f"which of {', '.join(PARTS)}; all unless said")
    parser.add_argument("--extension", type=Path, required=True, help="our extension, as `make vsix` packs it")
    parser.add_argument("--shots", type=Path, default=ROOT / "build" / "screenshots", help="the folder for screenshots")
    asked = parser.parse_args()
    if unknown := set(asked.parts) - set(PARTS):
        parser.error(f"there is no part named {', '.join(sorted(unknown))}")
    shots = asked.shots
    shots.mkdir(parents=True, exist_ok=True)
    for old in shots.glob("vscode_*.png"):
        old.unlink()
    signal.signal(signal.SIGTERM, give_up)
    with code_server(asked.extension.resolve()) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-lcd-text"],  # root may have no sandbox; grey letters make small pictures
            env={**os.environ, MARK: server.mark},
        )
        page = browser.new_page(
            viewport={"width": 1600, "height": 1000}, permissions=["clipboard-read", "clipboard-write"]
        )
        window = Window(page, server, shots)
        try:
            window.enter()
            for part in asked.parts or PARTS:
                PARTS[part](window, server)
        except (StageFailed, BrowserError) as error:
            window.shot("failed", "FAILED")
            print(f"reftorch: {error}\n    {window.all_seen()}", file=sys.stderr)
            return 1
        finally:
            browser.close()
    print(f"screenshots: {shots}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
