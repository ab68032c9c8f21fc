"""A real editor in a real browser: both languages debugged to a clean end, the lessons run, an exercise solved.

    python -m tests.vscode [debugging] [lessons] [exercise] --extension=VSIX      `make test-vscode` runs it

Mirrors: nothing in PyTorch: it tests no editor.
Left out: other browsers than Chromium; other builds of VS Code than code-server.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Error as BrowserError
from playwright.sync_api import sync_playwright

from tests.debug.launch import ROOT
from tests.vscode.debugging import debug_both_languages
from tests.vscode.exercise import solve_exercise
from tests.vscode.lessons import run_lessons
from tests.vscode.server import MARK, code_server
from tests.vscode.window import StageFailed, Window

PARTS = {"debugging": debug_both_languages, "lessons": run_lessons, "exercise": solve_exercise}


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
            args=["--no-sandbox"],  # which root may not have
            env={**os.environ, MARK: server.mark},
        )
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        window = Window(page, server, ROOT, shots)
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
