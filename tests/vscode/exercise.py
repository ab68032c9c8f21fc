"""Exercises in the editor's notebook view, as a learner does them: unanswered, answered wrong, answered right.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Left out: other answers; `tests/course/test_gates.py` runs each wrong answer of each exercise.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress

from playwright.sync_api import Error as BrowserError

from course._tools.exercises import find_exercise, learners_notebook, solution
from course._tools.layout import Chapter
from tests.debug.launch import ROOT
from tests.vscode.server import WORK, Server
from tests.vscode.window import Window

EXERCISE = "00.3"
OUTPUTS = ".output_container"
IN_AN_EDITOR = "() => document.activeElement.closest('.monaco-editor') !== null"


def shown_text(window: Window) -> str:
    """What the outputs of cells say; they are in a frame of their own."""
    said = []
    for frame in window.page.frames:
        with suppress(BrowserError):  # the editor fills that frame anew: look again later
            said += [output.inner_text() for output in frame.query_selector_all(OUTPUTS)]
    return "\n".join(said)


def _shows_cell(window: Window, number: int) -> bool:
    return f"Cell {number} of" in window.page.inner_text(".part.statusbar")


def select(window: Window, cell: int) -> None:
    """Go there by the keys; the status bar tells where one is."""

    def is_at_the_top() -> bool:  # the first Escape may only close a box of the cell's editor
        window.press("Escape")
        window.press("Control+Home")
        return _shows_cell(window, 1)

    window.until(is_at_the_top, "cell 1")
    for number in range(2, cell + 2):
        window.press("ArrowDown")
        window.until(lambda n=number: _shows_cell(window, n), f"cell {number}")


def run(window: Window, cell: int) -> None:
    select(window, cell)
    window.press("Shift+Enter")


def answer(window: Window, cell: int, source: str) -> None:
    select(window, cell)
    window.press("Enter")
    window.until(lambda: window.page.evaluate(IN_AN_EDITOR), "the cell's editor has the keys")
    window.press("Control+A")
    window.paste(source)
    window.page.wait_for_timeout(1000)  # the editor asks for the text of the clipboard and does not wait for it
    run(window, cell)


def open_working_copy(window: Window, chapter: Chapter) -> None:
    """Start the chapter, where that has not been done, and open its exercises."""
    environment = os.environ | {"REFTORCH_COURSE_WORK": str(WORK)}
    command = [sys.executable, "-m", "course._tools", "start", chapter.number]
    if not (WORK / chapter.folder.name).exists():
        subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    window.open(f"{WORK.relative_to(ROOT)}/{chapter.folder.name}/{chapter.my_exercises.name}")


def close(window: Window, server: Server) -> None:
    """Save and close. A cell that ends after its verdict changes the notebook again, so it may take two saves."""

    def is_saved() -> bool:
        window.press("Control+S")
        window.page.wait_for_timeout(1000)
        return window.page.locator(".tab.active.dirty").count() == 0

    window.until(is_saved, "the notebook is saved")
    window.command("View: Close Editor")
    window.until(lambda: not server.debuggers(), "the kernel has ended with its notebook")


def solve_exercise(window: Window, server: Server) -> None:
    chapter, exercise = find_exercise(EXERCISE)
    open_working_copy(window, chapter)
    marks = [cell["metadata"].get("reftorch", {}) for cell in learners_notebook(chapter)["cells"]]
    own, check = (marks.index({"exercise": EXERCISE, "role": role}) for role in ("answer", "check"))
    run(window, 1)  # the imports
    for position, mark in enumerate(marks):
        if mark == {"exercise": EXERCISE, "role": "given"}:
            run(window, position)
    attempts = (
        ("unanswered", None, "not done"),
        ("wrong", exercise.mutants[0].source, "failed"),
        ("right", solution(exercise.answers[0].source), "passed"),
    )
    for name, source, verdict in attempts:
        if source is None:
            run(window, own)
        else:
            answer(window, own, source)
        run(window, check)
        expected = f"exercise {EXERCISE}: {verdict}"
        window.until(lambda text=expected: text in shown_text(window), expected)
        window.shot(f"20_exercise_{name}", f"{expected}: its answer is {name}")
    close(window, server)


def solve_chapter(window: Window, server: Server, chapter: Chapter) -> None:
    """Every exercise of a chapter, with its solution typed in."""
    open_working_copy(window, chapter)
    for position, cell in enumerate(learners_notebook(chapter, solved=True)["cells"]):
        mark = cell["metadata"].get("reftorch", {})
        if mark.get("role") == "answer":
            answer(window, position, cell["source"])
        elif cell["cell_type"] == "code":
            run(window, position)
        if mark.get("role") == "check":
            expected = f"exercise {mark['exercise']}: passed"
            window.until(lambda text=expected: text in shown_text(window), expected)
            window.shot(f"21_{mark['exercise']}", expected)
    close(window, server)
