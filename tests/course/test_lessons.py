"""Lessons: they run, their stored outputs are what a run gives, and what they show is current.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from course._tools.build import SANITIZE
from course._tools.layout import COURSE, ROOT, chapters, pages
from course._tools.source import show_source

NOTEBOOKS = [*pages(), *(chapter.lesson for chapter in chapters())]
LESSONS = [chapter.lesson for chapter in chapters()]


def name(file: Path) -> str:
    return str(file.relative_to(COURSE))


by_notebook = pytest.mark.parametrize("file", NOTEBOOKS, ids=name)
by_lesson = pytest.mark.parametrize("file", LESSONS, ids=name)


@by_notebook
def test_it_runs_and_gives_the_stored_outputs(file, tmp_path):
    options = ["--nbval", "--nbval-sanitize-with", str(SANITIZE), "--nbval-cell-timeout", "180"]
    apart = ["-c", os.devnull, "--rootdir", str(ROOT), "-p", "no:cacheprovider", "-p", "no:xdist", "-q"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *apart, *options, str(file)],
        env={**os.environ, "REFTORCH_COURSE_WORK": str(tmp_path), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
    )
    advice = "where the new output is right, run: make course"
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-2000:]}\n{advice}"


@by_lesson
def test_the_source_it_shows_is_current(file):
    for cell in nbformat.read(file, as_version=4).cells:
        for output in cell.get("outputs", []):
            listing = output.get("metadata", {}).get("reftorch", {}).get("listing")
            if listing is not None:
                now = show_source(**listing["asked"])
                assert now.digest == listing["digest"], f"{now.name} in {now.path} has changed; run: make course"


@by_notebook
def test_every_code_cell_has_run_and_none_failed(file):
    for cell in nbformat.read(file, as_version=4).cells:
        if cell.cell_type == "code":
            assert cell.execution_count is not None
            errors = [output.ename for output in cell.outputs if output.output_type == "error"]
            assert not errors or "raises-exception" in cell.metadata.get("tags", [])
            assert "ended without reaching" not in str(cell.outputs)  # a stop that the lesson is about


@by_notebook
def test_nothing_stored_tells_of_the_machine_it_ran_on(file):
    text = file.read_text()
    for private in (str(ROOT), str(Path.home()), sys.prefix):
        assert private not in text
    assert not re.search(r"/tmp/\w", text)


@by_lesson
def test_it_opens_with_a_question_and_a_picture_and_ends_with_the_map(file):
    cells = nbformat.read(file, as_version=4).cells
    assert "?" in cells[0].source
    pictures = [
        position
        for position, cell in enumerate(cells)
        if any("image/svg+xml" in output.get("data", {}) for output in cell.get("outputs", []))
    ]
    assert pictures
    assert pictures[0] <= 5
    assert any("symbol_map(" in cell.source for cell in cells[-3:])


@by_lesson
def test_it_is_mostly_looking_and_little_reading(file):
    cells = nbformat.read(file, as_version=4).cells
    words = [len(cell.source.split()) for cell in cells if cell.cell_type == "markdown"]
    shown = 0
    for cell in cells:
        if cell.cell_type == "code":
            shown += len(cell.source.splitlines())
            shown += sum(_lines_shown(output) for output in cell.outputs)
    assert sum(words) <= 6 * shown, f"{sum(words)} words for {shown} lines to look at"
    assert max(words) <= 170


WALL = 150  # words: three quarters of a page, as much as one reads at a stretch
WAY = 200  # words: from one thing to look at to the next, over cells whose outputs are only text
PARAGRAPH = 90


@by_notebook
def test_no_wall_of_text_stands_in_it(file):
    """Prose is parted by cells that show something; what is to be looked at comes every page; paragraphs are short."""
    since_a_cell = since_a_figure = 0
    for cell in nbformat.read(file, as_version=4).cells:
        if cell.cell_type == "markdown":
            paragraphs = [_words(paragraph) for paragraph in re.split(r"\n\s*\n", cell.source)]
            assert max(paragraphs) <= PARAGRAPH, f"a paragraph of {max(paragraphs)} words: {cell.source[:80]!r}"
            since_a_cell += sum(paragraphs)
            since_a_figure += sum(paragraphs)
            assert since_a_cell <= WALL, f"{since_a_cell} words at a stretch, up to {cell.source[-80:]!r}"
            assert since_a_figure <= WAY, f"{since_a_figure} words without a figure, up to {cell.source[-80:]!r}"
        elif cell.outputs:
            since_a_cell = 0
            since_a_figure = 0 if any(_is_figure(output) for output in cell.outputs) else since_a_figure


def _words(markdown: str) -> int:
    return len(re.sub(r"```.*?```", "", markdown, flags=re.S).split())


def _is_figure(output: nbformat.NotebookNode) -> bool:
    """A picture, a listing, a call tree, a stop, a table; of plain text ten lines, as of a terminal."""
    rich = {"image/svg+xml", "text/html"} & set(output.get("data", {}))
    return bool(rich) or len(output.get("text", "").splitlines()) >= 10


def _lines_shown(output: nbformat.NotebookNode) -> int:
    """The lines of an output; of a listing those of its source, as its column of numbers has them."""
    data = output.get("data", {})
    column = re.search(r"user-select:none[^>]*>([\d\n]+)</pre>", data.get("text/html", ""))
    return len((column[1] if column else data.get("text/plain", output.get("text", ""))).splitlines())


@pytest.mark.parametrize("file", [*NOTEBOOKS, *(chapter.exercises for chapter in chapters())], ids=name)
def test_its_formulas_are_plain_text(file):
    """The static pages are read without a network too, where MathJax does not come and TeX would be shown as it is."""
    texts = [cell.source for cell in nbformat.read(file, as_version=4).cells if cell.cell_type == "markdown"]
    assert not [text for text in texts if "$" in re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.S)]


@by_lesson
def test_its_links_lead_somewhere(file):
    broken = []
    for cell in nbformat.read(file, as_version=4).cells:
        html = "".join(str(output.get("data", {}).get("text/html", "")) for output in cell.get("outputs", []))
        markdown = cell.source if cell.cell_type == "markdown" else ""
        targets = [*re.findall(r'href="([^"#]+)', html), *re.findall(r"\]\(([^)#\s]+)", markdown)]
        broken += [each for each in targets if "://" not in each and not (file.parent / each).exists()]
    assert broken == []
