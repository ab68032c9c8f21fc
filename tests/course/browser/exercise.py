"""Exercises, done as a learner does them: started in a terminal, answered wrong, answered right, checked in a cell.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: other answers; `tests/course/test_gates.py` runs each wrong answer of each exercise.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

from playwright.sync_api import Browser, Page

from course._tools.exercises import Exercise, find_exercise, learners_notebook, solution
from course._tools.layout import Chapter
from tests.course.browser import notebooks
from tests.course.browser.lessons import SCREEN
from tests.course.browser.server import Lab

PROGRESS = re.compile(r"^\d+ of \d+$")  # of the link to the exercises of a chapter


def solve(browser: Browser, lab: Lab, number: str, shots: Path) -> list[str]:
    """Solve exercise `number`, after a wrong answer; returns what did not come as a learner must see it."""
    chapter, exercise = find_exercise(number)
    wrong = _start(browser, lab, chapter, shots)
    page = browser.new_page(viewport=SCREEN)
    _open_from_start_page(page, lab, chapter)
    wrong += _answer(page, chapter, exercise, shots)
    page.close()
    page = browser.new_page(viewport=SCREEN)
    page.goto(lab.url())
    notebooks.wait_until_open(page)
    notebooks.run_all(page)
    row = page.locator(f"{notebooks.PANEL} tr", has_text=chapter.title)
    if "1 of" not in (row.text_content() or ""):
        wrong.append(f"the start page does not show the progress: {row.text_content()}")
    row.scroll_into_view_if_needed()
    page.screenshot(path=str(shots / "exercise_6_start_page.png"))
    page.close()
    return [f"exercise {number}: {each}" for each in wrong]


def solve_chapter(browser: Browser, lab: Lab, chapter: Chapter, shots: Path) -> list[str]:
    """Type the solution of every exercise of a chapter into its cell, and run the check; returns what is wrong."""
    wrong = []
    page = browser.new_page(viewport=SCREEN)
    _open_from_start_page(page, lab, chapter)
    wrong += ["it is marked as changed when it is opened"] if page.evaluate(notebooks.CHANGED) else []
    shown, begin = notebooks.cells(page), time.monotonic()
    solved = learners_notebook(chapter, solved=True)["cells"]
    for position, cell in enumerate(solved):
        if cell["cell_type"] != "code":
            continue
        mark = cell["metadata"].get("reftorch", {})
        if mark.get("role") == "answer":
            notebooks.write(page, shown.nth(position), cell["source"])
        said = notebooks.run(page, shown.nth(position))
        if mark.get("role") == "check" and f"exercise {mark['exercise']}: passed" not in said:
            wrong.append(f"{mark['exercise']} is solved, and its check says {said[:300]!r}")
    number = sum(cell["metadata"].get("reftorch", {}).get("role") == "check" for cell in solved)
    print(f"{chapter.folder.name}, exercises: {time.monotonic() - begin:.0f} s, {number} checks", flush=True)
    wrong += notebooks.faults(page)
    notebooks.screenfuls(page, shots, f"{chapter.folder.name}_exercises")
    page.close()
    return [f"exercises of {chapter.folder.name}: {each}" for each in wrong]


def _start(browser: Browser, lab: Lab, chapter: Chapter, shots: Path) -> list[str]:
    """`reftorch-course start`, typed into a terminal of JupyterLab."""
    page = browser.new_page(viewport=SCREEN)
    page.goto(lab.url())
    notebooks.wait_until_open(page)
    page.click('.lm-MenuBar-itemLabel:text("File")')
    page.hover('.lm-Menu-itemLabel:text-is("New")')
    page.click('.lm-Menu-itemLabel:text-is("Terminal")')
    page.wait_for_selector(".jp-Terminal .xterm-screen", timeout=notebooks.PATIENCE * 1000)
    page.wait_for_timeout(2000)  # the shell's prompt
    page.click(".jp-Terminal .xterm-screen")
    page.keyboard.type(f"reftorch-course status && reftorch-course start {chapter.number}\n")
    notebook = lab.work / chapter.folder.name / chapter.my_exercises.name
    deadline = time.monotonic() + notebooks.PATIENCE
    while not notebook.exists() and time.monotonic() < deadline:
        page.wait_for_timeout(500)
    page.wait_for_timeout(3000)
    page.screenshot(path=str(shots / f"exercise_1_terminal_{chapter.number}.png"))
    page.close()
    return [] if notebook.exists() else [f"no {notebook} after `reftorch-course start` in a terminal"]


def _open_from_start_page(page: Page, lab: Lab, chapter: Chapter) -> None:
    page.goto(lab.url())
    notebooks.wait_until_open(page)
    page.locator(f"{notebooks.PANEL} tr", has_text=chapter.title).locator("a", has_text=PROGRESS).click()
    page.wait_for_selector(f'{notebooks.PANEL} h1:has-text("Exercises")', timeout=notebooks.PATIENCE * 1000)
    notebooks.wait_until_open(page)


def _answer(page: Page, chapter: Chapter, exercise: Exercise, shots: Path) -> list[str]:
    number = exercise.number
    marks = [cell["metadata"].get("reftorch", {}) for cell in learners_notebook(chapter)["cells"]]
    cells = notebooks.cells(page)
    answer = cells.nth(marks.index({"exercise": number, "role": "answer"}))
    check = cells.nth(marks.index({"exercise": number, "role": "check"}))
    imports = cells.nth(next(i for i, mark in enumerate(marks) if not mark and i > 0))
    notebooks.run(page, imports)
    for position, mark in enumerate(marks):
        if mark == {"exercise": number, "role": "given"}:
            notebooks.run(page, cells.nth(position))

    def attempt(name: str, source: str, *expected: str) -> list[str]:
        if source:
            notebooks.write(page, answer, source)
        notebooks.run(page, answer)
        said = notebooks.run(page, check)
        check.scroll_into_view_if_needed()
        page.screenshot(path=str(shots / f"exercise_{name}.png"))
        return [f"{name}: {said[:300]!r} does not say {text!r}" for text in expected if text not in said]

    wrong = attempt("2_untouched", "", f"exercise {number}: not done")
    wrong += attempt("3_wrong", exercise.mutants[0].source, f"exercise {number}: failed", "came:", "expected:")
    wrong += attempt("4_right", solution(exercise.answers[0].source), f"exercise {number}: passed")
    page.keyboard.press("Escape")
    page.keyboard.press("b")  # a new cell below the check
    cells.nth(len(marks)).wait_for(timeout=notebooks.PATIENCE * 1000)  # one cell more than the notebook came with
    below = cells.nth(marks.index({"exercise": number, "role": "check"}) + 1)
    notebooks.write(page, below, f'course("check {chapter.number}")')
    notebooks.save(page)
    said = notebooks.run(page, below)
    below.scroll_into_view_if_needed()
    page.screenshot(path=str(shots / "exercise_5_all.png"))
    expected = (f"{number}  passed", f"1 of {sum(mark.get('role') == 'check' for mark in marks)} passed")
    return wrong + [f"the course's check says {said[-400:]!r}, not {text!r}" for text in expected if text not in said]
