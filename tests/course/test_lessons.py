"""Lessons: they run, their stored outputs are what a run gives, and what they show is current.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from course._tools import folds, next_chapter, tags
from course._tools.build import SANITIZE
from course._tools.layout import COURSE, ROOT, chapters, pages
from course._tools.listing import Listing
from course._tools.notebook import read
from course._tools.real_torch import STORE, find_torch, keys_in, stored_in
from course._tools.source import MOST, show_source
from course._tools.syllabus import edition
from reftorch.debug.core.gdb_report import FEWEST, SCREENFUL

NOTEBOOKS = [*pages(), *(chapter.lesson for chapter in chapters())]
LESSONS = [chapter.lesson for chapter in chapters()]
PRIMER = COURSE / "primer.ipynb"
SECOND = [chapter.lesson for chapter in chapters() if edition(chapter) == 2]


def name(file: Path) -> str:
    return str(file.relative_to(COURSE))


by_notebook = pytest.mark.parametrize("file", NOTEBOOKS, ids=name)
by_lesson = pytest.mark.parametrize("file", LESSONS, ids=name)


def cells_of_torch(file: Path) -> set[str]:
    """The keys of a notebook's `%%real_torch` cells."""
    return keys_in([cell["source"] for cell in read(file)["cells"]])


@by_notebook
def test_what_torch_prints_is_stored_for_those_who_have_no_torch(file):
    assert cells_of_torch(file) <= set(stored_in(file.parent)), "where torch is installed, run: make course"


def run_nbval(file: Path, work: Path) -> subprocess.CompletedProcess[str]:
    """Run a notebook and compare its outputs with the stored ones."""
    options = ["--nbval", "--nbval-sanitize-with", str(SANITIZE), "--nbval-cell-timeout", "180"]
    apart = ["-c", os.devnull, "--rootdir", str(ROOT), "-p", "no:cacheprovider", "-p", "no:xdist", "-q"]
    apart += ["-p", "course._tools.nbval_streams"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *apart, *options, str(file)],
        env={**os.environ, "REFTORCH_COURSE_WORK": str(work), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        cwd=ROOT,
    )


@by_notebook
def test_it_runs_and_gives_the_stored_outputs(file, tmp_path, not_compared):
    if cells_of_torch(file) and find_torch() is None:  # then they show what is stored, and the end of the run says so
        not_compared()
    done = run_nbval(file, tmp_path)
    advice = "where the new output is right, run: make course"
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-2000:]}\n{advice}"


@by_notebook
def test_nothing_is_stored_of_stderr(file):
    """It depends on the machine, and is not compared: see course/_tools/nbval_streams.py."""
    outputs = [output for cell in read(file)["cells"] for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output.get("name") == "stderr"]


def test_a_warning_on_stderr_fails_no_lesson(tmp_path):
    stored = nbformat.v4.new_output("stream", name="stdout", text="4\n")
    source = "import sys\nprint('a warning', file=sys.stderr)\nprint(2 + 2)"
    cell = nbformat.v4.new_code_cell(source, execution_count=1, outputs=[stored])
    notebook = tmp_path / "lesson.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), notebook)
    done = run_nbval(notebook, tmp_path)
    assert done.returncode == 0, done.stdout[-3000:]
    cell.outputs[0]["text"] = "5\n"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), notebook)
    assert run_nbval(notebook, tmp_path).returncode == 1


@by_notebook
def test_the_source_it_shows_is_current(file):
    for cell in nbformat.read(file, as_version=4).cells:
        for output in cell.get("outputs", []):
            listing = output.get("metadata", {}).get("reftorch", {}).get("listing")
            if listing is not None:
                now = show_source(**listing["asked"])
                assert now.digest == listing["digest"], f"{now.name} in {now.path} has changed; run: make course"


SVG = "{http://www.w3.org/2000/svg}"


@by_notebook
def test_every_curve_and_bar_of_its_pictures_is_seen(file):
    """A line has two points at least, a box is a pixel wide and high, and nothing is outside of the picture."""
    for position, picture in _pictures(file):
        width, height = map(float, picture.get("viewBox").split()[2:])
        for line in picture.iter(f"{SVG}polyline"):
            points = [tuple(map(float, point.split(","))) for point in line.get("points").split()]
            assert len(points) >= 2, f"cell {position}: a line of {len(points)} points"
            assert all(-1 < x < width + 1 and -1 < y < height + 1 for x, y in points), f"cell {position}: {points}"
        for box in picture.iter(f"{SVG}rect"):
            if box.get("width") == "100%":  # the background
                continue
            x, y, wide, high = (float(box.get(name)) for name in ("x", "y", "width", "height"))
            assert min(wide, high) >= 1, f"cell {position}: a box of {wide} by {high}"
            inside = x > -1 and y > -1 and x + wide < width + 1 and y + high < height + 1
            assert inside, f"cell {position}: a box at {x}, {y} of {wide} by {high} is outside of {width} by {height}"


def _pictures(file: Path) -> Iterator[tuple[int, ElementTree.Element]]:
    for position, cell in enumerate(read(file)["cells"]):
        for output in cell.get("outputs", []):
            if text := "".join(output.get("data", {}).get("image/svg+xml", "")):
                yield position, ElementTree.fromstring(text)


@by_notebook
def test_its_code_keeps_its_indentation_where_it_is_exported(file):
    """nbconvert makes one space of spaces between elements, except in `<pre>`."""
    for cell in nbformat.read(file, as_version=4).cells:
        for output in cell.get("outputs", []):
            html = output.get("data", {}).get("text/html", "")
            outside = re.sub(r"(?s)<(pre|svg)\b.*?</\1>", "", html)
            assert not re.findall(r"> {2,}<", outside), "stored by an older version; run: make course"


@by_notebook
def test_machinery_is_folded_under_titles_and_no_output_tells_an_answer_too_early(file):
    assert not folds.fold(read(file)), "run: python -m course._tools build --no-run"


@by_notebook
def test_every_code_cell_has_run_and_none_failed(file):
    for cell in nbformat.read(file, as_version=4).cells:
        if cell.cell_type == "code":
            assert cell.execution_count is not None
            errors = [output.ename for output in cell.outputs if output.output_type == "error"]
            assert not errors or "raises-exception" in cell.metadata.get("tags", [])
            assert "ended without reaching" not in str(cell.outputs)  # a stop that the lesson is about


@by_notebook
def test_a_cell_whose_output_is_not_compared_says_why(file):
    """The reason stands in the metadata of the cell, where whoever reads the notebook's source looks for the tag."""
    for position, cell in enumerate(read(file)["cells"]):
        if "nbval-ignore-output" in cell["metadata"].get("tags", []):
            reason = cell["metadata"].get("reftorch", {}).get("not_compared", "")
            assert len(reason.split()) >= 4, f"cell {position}: metadata.reftorch.not_compared has the reason"


@by_notebook
def test_nothing_stored_tells_of_the_machine_it_ran_on(file):
    store = file.with_name(STORE)
    text = file.read_text() + (store.read_text() if store.exists() else "")
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


@pytest.mark.parametrize("chapter", chapters(), ids=lambda chapter: chapter.folder.name)
def test_it_ends_with_links_to_the_next_chapter_and_the_start_page(chapter):
    last = read(chapter.lesson)["cells"][-1]
    assert last["source"] == next_chapter.text(chapter), "run: make course"


def test_every_lesson_has_the_form_of_the_second_edition():
    """A chapter that the syllabus does not know of, or knows without its edition, would escape the gates below."""
    assert SECOND == LESSONS


@pytest.mark.parametrize("file", SECOND, ids=name)
def test_it_has_the_form_of_the_second_edition(file):
    assert tags.faults(read(file)) == []


def test_the_primer_shows_each_construct_at_work_and_in_the_library():
    """Each section has a program that runs, and a listing with notes from cpp/; each prediction has its reveal."""
    cells = read(PRIMER)["cells"]
    headings = [position for position, cell in enumerate(cells) if cell["source"].startswith("## ")]
    assert len(headings) == 8
    for begin, end in zip(headings, [*headings[1:], len(cells)], strict=True):
        section = cells[begin:end]
        title = section[0]["source"].splitlines()[0]
        assert any(cell["source"].startswith("%%cpp") for cell in section), title
        listings = [cell for cell in section if "source" in tags.of_cell(cell)]
        assert [cell for cell in listings if "cpp/" in str(cell["outputs"]) and "notes=" in cell["source"]], title
        order = [tag for cell in section for tag in tags.of_cell(cell) if tag in ("predict", "reveal")]
        assert order in ([], ["predict", "reveal"]), title


LINKING = ("00_setup", "01_import", "02_tensor", "03_operator", "05_autograd_graph")


@pytest.mark.parametrize("place", ["index", "glossary", *(f"{folder}/lesson" for folder in LINKING)])
def test_the_primer_is_linked_from_where_it_is_needed(place):
    assert any("primer.ipynb)" in cell["source"] for cell in read(COURSE / f"{place}.ipynb")["cells"])


@pytest.mark.parametrize("file", [*SECOND, PRIMER], ids=name)
def test_the_answer_to_a_prediction_is_folded_in_what_is_stored(file):
    lesson = read(file)
    revealed = [cell for cell in lesson["cells"] if "reveal" in tags.of_cell(cell) and cell["cell_type"] == "code"]
    for cell in revealed:
        html = "".join("".join(output.get("data", {}).get("text/html", "")) for output in cell["outputs"])
        assert html.startswith("<details style"), "the cell ends with reveal(...), and its prediction has no answer"


@pytest.mark.parametrize("file", [*SECOND, PRIMER], ids=name)
def test_no_listing_of_it_is_longer_than_a_screen(file):
    for cell in read(file)["cells"]:
        for output in cell.get("outputs", []):
            listing = output.get("metadata", {}).get("reftorch", {}).get("listing", {})
            assert listing.get("lines", 0) <= MOST, listing["asked"]


SCREEN = 44  # lines of text on a laptop's screen


@pytest.mark.parametrize("file", [*SECOND, PRIMER], ids=name)
def test_no_output_of_it_is_longer_than_a_screen(file):
    """Of the text, because nobody sees the pixels here; `python -m tests.course.browser` measures those."""
    for position, cell in enumerate(read(file)["cells"]):
        height = sum(_height(output) for output in cell.get("outputs", []))
        assert height <= SCREEN, f"cell {position} shows {height} lines: {cell['source'][:80]}"


def _height(output: dict[str, Any]) -> int:
    """The lines of an output; of the frames of a stack at most those that are seen without scrolling."""
    lines = "".join(output.get("text") or output.get("data", {}).get("text/plain", "")).splitlines()
    is_frame = [re.match(r"    (c\+\+|py)  ", line) is not None for line in lines]
    stacks = [len(list(frames)) for is_stack, frames in itertools.groupby(is_frame) if is_stack]
    seen = max(FEWEST, SCREENFUL // max(len(stacks), 1))  # a longer stack scrolls within the output
    return len(lines) - sum(max(0, frames - seen) for frames in stacks)


LOOP = re.compile(r"^\s*(?:for|while)\b")
CHOICE = re.compile(r"\b(?:if|elif|switch)\b|\s\?\s")
BRIEF = 5  # lines: a listing of so few is understood without a trace


def code_of(listing: Listing) -> list[str]:
    """The lines that a listing shows, without comments and texts in quotation marks."""
    lines = listing.text.splitlines()
    shown = [lines[number - listing.first] for number in listing.numbers]
    return [
        re.sub(r"//.*|#.*" if listing.path.endswith(".py") else r"//.*|^#.*", "", _unquoted(line)) for line in shown
    ]


def _unquoted(line: str) -> str:
    return re.sub(r'"[^"]*"', '""', line)


@pytest.mark.parametrize("file", SECOND, ids=name)
def test_a_listing_with_a_loop_or_choices_is_followed_by_a_trace(file):
    """In the same section a trace follows: line by line, with real numbers. One choice alone needs none."""
    cells = read(file)["cells"]
    for position, cell in enumerate(cells):
        for output in cell.get("outputs", []):
            listing = output.get("metadata", {}).get("reftorch", {}).get("listing")
            if listing is None or listing["lines"] <= BRIEF:
                continue
            code = code_of(show_source(**listing["asked"]))
            loops, choices = (sum(bool(pattern.search(line)) for line in code) for pattern in (LOOP, CHOICE))
            if loops or choices > 1:
                assert "trace" in _tags_of_the_section_after(cells, position), f"{listing['asked']}: {code}"


def _tags_of_the_section_after(cells: list[dict[str, Any]], position: int) -> set[str]:
    found: set[str] = set()
    for cell in cells[position + 1 :]:
        if cell["cell_type"] == "markdown" and re.search(r"(?m)^## ", cell["source"]):
            break
        found |= set(tags.of_cell(cell))
    return found


# What stands in a listing of C++, and how the text that explains it writes it.
CONSTRUCTS = {
    r"\bconstexpr\b": "constexpr",
    r"\bstatic_cast\b": "`static_cast<",
    r"\breinterpret_cast\b": "`reinterpret_cast`",
    r"\btemplate\b": "template",
    r"\busing\b": '"using',
    r"\bauto\b": "`auto`",
    r"\bnullptr\b": "`nullptr`",
    r"\boverride\b": "`override`",
    r"\bfinal\b": "`final`",
    r"\bvirtual\b": "`virtual`",
    r"\binline\b": "`inline`",
    r"\w->\w": "`->`",
    r"\w&& \w": "`&&`",
    r"std::move\b": "`std::move",
    r"\boperator\(\)": "`operator()`",
    r"\bswitch\b": "`switch`",
    r"\bthrow\b": "`throw`",
    r"\bnew \w": "`new`",
    r"\bsize_t\b": "`size_t`",
    r" \? .* : ": "b if a else c",
    r"\+\+": "`i++`",
    r"\]\(.*\) (-> \w+ )?\{": "*lambda*",
    r"std::optional\b": "`std::optional",
    r"shared_ptr\b": "`std::shared_ptr`",
    r"weak_ptr\b": "`std::weak_ptr`",
    r"lock_guard\b": "*guard*",
    r"emplace_back": "`emplace_back`",
    r"push_back": "`push_back`",
    r"\w\.get\(\)": ".get()`",
    r"__builtin_expect": "__builtin_expect",
    r"char\*": "`char*",
    r"void\*": "`void*`",
    r"const \w+& \w": "`const",
    r"memcpy": "std::memcpy(",
    r"\bint64_t\b": "`int64_t`",
    r"\buint64_t\b": "`uint64_t`",
    r"UINT64_MAX": "`UINT64_MAX`",
    r"TORCH_CHECK\(": "TORCH_CHECK",
    r"__VA_ARGS__": "`__VA_ARGS__`",
    r"\bdispatch<": "`dispatch",
    r"TORCH_FN": "`TORCH_FN`",
}


def test_every_construct_of_cpp_is_explained_where_it_first_stands():
    """In the prose and the notes of the lessons up to the one whose listing has it, or in the primer of C++."""
    explained = _prose(PRIMER) + _prose(SECOND[0])
    missing = dict.fromkeys(CONSTRUCTS)
    for file in SECOND[1:]:  # chapter 00 shows one kernel, and says that nobody need understand it yet
        explained += _prose(file)
        for code in _listings_of_cpp(file):
            for pattern in [each for each in missing if re.search(each, code)]:
                del missing[pattern]
                word = CONSTRUCTS[pattern]
                assert word in explained, f"{name(file)} does not explain {word}, which stands in: {code}"
    assert not missing, "these constructs stand in no listing any more"


def _prose(file: Path) -> str:
    cells = read(file)["cells"]
    is_read = [cell["cell_type"] == "markdown" or "show_source(" in cell["source"] for cell in cells]
    return "".join(cell["source"] for cell, wanted in zip(cells, is_read, strict=True) if wanted)


def _listings_of_cpp(file: Path) -> Iterator[str]:
    for cell in read(file)["cells"]:
        for output in cell.get("outputs", []):
            listing = output.get("metadata", {}).get("reftorch", {}).get("listing")
            if listing is not None and not listing["asked"]["path"].endswith(".py"):
                yield "\n".join(code_of(show_source(**listing["asked"])))


@by_lesson
def test_it_is_mostly_looking_and_little_reading(file):
    cells = nbformat.read(file, as_version=4).cells
    words = [len(cell.source.split()) for cell in cells if cell.cell_type == "markdown"]
    shown = 0
    for cell in cells:
        if cell.cell_type == "code":
            shown += len(cell.source.splitlines())
            shown += sum(_lines_shown(output) for output in cell.outputs)
    length = LENGTH if file in SECOND else 1
    assert sum(words) <= 6 * length * shown, f"{sum(words)} words for {shown} lines to look at"
    assert max(words) <= 170 * length


WALL = 150  # words: three quarters of a page, as much as one reads at a stretch
WAY = 200  # words: from one thing to look at to the next, over cells whose outputs are only text
PARAGRAPH = 90
LENGTH = 1.5  # how much longer the prose of a chapter of the second edition may be


@by_notebook
def test_no_wall_of_text_stands_in_it(file):
    """Prose is parted by cells that show something; what is to be looked at comes every page; paragraphs are short."""
    since_a_cell = since_a_figure = 0
    length = LENGTH if file in SECOND else 1
    for cell in nbformat.read(file, as_version=4).cells:
        if cell.cell_type == "markdown":
            paragraphs = [_words(paragraph) for paragraph in re.split(r"\n\s*\n", cell.source)]
            assert max(paragraphs) <= PARAGRAPH, f"a paragraph of {max(paragraphs)} words: {cell.source[:80]!r}"
            since_a_cell += sum(paragraphs)
            since_a_figure += sum(paragraphs)
            assert since_a_cell <= WALL * length, f"{since_a_cell} words at a stretch, up to {cell.source[-80:]!r}"
            assert since_a_figure <= WAY * length, (
                f"{since_a_figure} words without a figure, up to {cell.source[-80:]!r}"
            )
            if cell.source.startswith("!["):
                since_a_cell = since_a_figure = 0
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
    """The lines of an output; of a listing those of its source."""
    listing = output.get("metadata", {}).get("reftorch", {}).get("listing")
    if listing is not None:
        return listing["lines"]
    return len(output.get("data", {}).get("text/plain", output.get("text", "")).splitlines())


@pytest.mark.parametrize("file", [*NOTEBOOKS, *(chapter.exercises for chapter in chapters())], ids=name)
def test_its_formulas_are_plain_text(file):
    """The web site is read without a network too, where MathJax does not come and TeX would be shown as it is."""
    texts = [cell.source for cell in nbformat.read(file, as_version=4).cells if cell.cell_type == "markdown"]
    assert not [text for text in texts if "$" in re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.S)]


@by_notebook
def test_its_links_lead_somewhere(file):
    broken = []
    for cell in nbformat.read(file, as_version=4).cells:
        html = "".join(str(output.get("data", {}).get("text/html", "")) for output in cell.get("outputs", []))
        markdown = re.sub(r"`[^`]*`", "", cell.source) if cell.cell_type == "markdown" else ""
        targets = [*re.findall(r'href="([^"#]+)', html), *re.findall(r"\]\(([^)#\s]+)", markdown)]
        broken += [each for each in targets if "://" not in each and not (file.parent / each).exists()]
    assert broken == []
