"""Pages of PyTorch's own source in the lessons: each lesson has one, its notes are on lines of 2.13, none is stored.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from course._tools.layout import COURSE, chapters, pages
from course._tools.notebook import read
from course._tools.real_torch import find_files
from course._tools.site.pytorch_paths import listed_paths
from course._tools.torch_listing import BEGIN, END, show_torch_source

NOTEBOOKS = [*pages(), *(chapter.lesson for chapter in chapters())]
VIEWED = [chapter.lesson for chapter in chapters() if chapter.number != "00"]
LONG = 40  # characters: a line that is longer is somebody's sentence, and no name
VIEW = (15, 3, 6)  # a view of PyTorch's own file has at least 15 lines (30 at most), and 3 to 6 notes


def name(file: Path) -> str:
    return str(file.relative_to(COURSE))


def torch_cells(file: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each cell with a `show_torch_source`, and the arguments of the call; they are texts, written in the call."""
    for cell in read(file)["cells"]:
        if cell["cell_type"] == "code" and "show_torch_source(" in cell["source"]:
            calls = (node for node in ast.walk(ast.parse(cell["source"])) if isinstance(node, ast.Call))
            for call in (each for each in calls if getattr(each.func, "id", "") == "show_torch_source"):
                given = dict(zip(("path", "name"), map(ast.literal_eval, call.args), strict=False))
                yield cell, {**given, **_literals(call.keywords)}


def _literals(keywords: list[ast.keyword]) -> dict[str, Any]:
    """Values of keywords; texts that are multiplied, as `" " * 8`, are computed."""
    return {str(each.arg): eval(compile(ast.Expression(each.value), "a call", "eval"), {}) for each in keywords}


@pytest.mark.parametrize("file", VIEWED, ids=name)
def test_a_lesson_shows_a_page_of_pytorchs_own_source(file):
    """What is stored tells how many lines the listing had where torch was."""
    listings = [
        output["metadata"]["reftorch"]["torch_listing"]
        for cell in read(file)["cells"]
        for output in cell.get("outputs", [])
        if "torch_listing" in output.get("metadata", {}).get("reftorch", {})
    ]
    fewest, notes, most_notes = VIEW
    assert listings, "a cell with show_torch_source(...), run where torch is installed"
    assert max(listing["lines"] for listing in listings) >= fewest
    assert all(notes <= len(listing["asked"]["anchors"]) <= most_notes for listing in listings)


@pytest.mark.parametrize("file", VIEWED, ids=name)
def test_every_note_on_pytorchs_source_is_on_a_line_of_its_file(file, real_torch):
    """An anchor that 2.13 lacks, or has twice, is an error of `show_torch_source`. A .cpp file is in no wheel."""
    for _, asked in torch_cells(file):
        shown = show_torch_source(**asked)
        assert shown.state == f"from torch {real_torch.__version__.split('+')[0]}"
        lines = shown.text.split("\n")
        for anchor, note in zip(shown.anchors, shown.notes, strict=True):
            assert anchor.split(" … ")[0] in lines[note.first - shown.first]


@pytest.mark.parametrize("file", NOTEBOOKS, ids=name)
def test_no_line_of_pytorchs_source_is_stored(file):
    """A view of PyTorch's file is stored as notes. In JupyterLab an author who saves would store what torch showed."""
    for cell in read(file)["cells"]:
        page = "".join(str(output.get("data", {}).get("text/html", "")) for output in cell.get("outputs", []))
        for view in re.findall(f"(?s){re.escape(BEGIN)}.*?{re.escape(END)}", page):
            assert "<pre" not in view, "its lines are stored; run: make course"


@pytest.mark.parametrize("file", VIEWED, ids=name)
def test_no_longer_piece_of_pytorchs_source_is_in_a_lesson(file, real_torch):
    """Not in the output of such a view, and not as an anchor, which is a piece of a line."""
    for cell, asked in torch_cells(file):
        shown = show_torch_source(**asked)
        lines = {line.strip() for line in shown.text.split("\n") if len(line.strip()) > LONG}
        data = [str(value) for output in cell["outputs"] for value in output["data"].values()]
        told = ast.unparse(ast.parse(cell["source"])) + html.unescape(re.sub(r"<[^>]*>", "", "".join(data)))
        assert lines
        assert not [line for line in lines if line in told]


ANSWER = re.compile(r"(?s)\*\*The answer in PyTorch's source:\*\* (.*?)\n\n")
NAME_IN_FILE = re.compile(r"`([\w.:]+)`\s+in\s+`([\w/.]+)`")


@pytest.mark.parametrize("file", VIEWED, ids=name)
def test_a_lesson_names_the_function_of_pytorch_that_has_its_answer(file):
    """In the text before the map, with its file. What a wheel has of these files, it has with this name."""
    answer = ANSWER.search("".join(f"{cell['source']}\n\n" for cell in read(file)["cells"][-4:]))
    assert answer is not None
    places = NAME_IN_FILE.findall(answer[1])
    assert places
    torch = find_files()
    for function, path in places:
        assert path in set().union(*listed_paths()), "PyTorch has no such file, or no file of ours mirrors it"
        text = torch.file(path) if torch else None
        assert text is None or re.search(rf"\b{re.split('[.:]', function)[-1]}\b", text.read_text())
