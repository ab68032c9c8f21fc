"""The book: what Sphinx gets is complete, its links lead to pages and lines, and a broken link is found.

Mirrors: nothing in PyTorch: PyTorch ships no course.
Leaves out: Sphinx itself, which only `make book` installs; there a warning of Sphinx and a broken link are errors.
"""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from pygments.token import Token

from course._tools import book as book_of
from course._tools.book import broken_links, prepare
from course._tools.book.lexer import CellLexer
from course._tools.book.source_pages import style_sheet
from course._tools.cli import main
from course._tools.exercises import exercises_of
from course._tools.layout import COURSE, chapters, pages
from course._tools.notebook import as_text, new_cell, new_notebook, read

NOTEBOOKS = [*pages(), *(file for chapter in chapters() for file in (chapter.lesson, chapter.exercises))]


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Path:
    """The folder of the prepared pages of the whole course."""
    folder = tmp_path_factory.mktemp("book")
    prepare(folder)
    return folder


def outputs(page: Path) -> str:
    """All HTML that the outputs of a prepared page show."""
    found = [
        output.get("data", {}).get("text/html", "")
        for cell in read(page)["cells"]
        for output in cell.get("outputs", [])
    ]
    return "".join("".join(each) for each in found)


def test_every_notebook_is_a_page_and_stands_in_the_list_of_pages(book):
    assert {file.relative_to(book / "pages") for file in (book / "pages").rglob("*.ipynb")} == {
        file.relative_to(COURSE) for file in NOTEBOOKS
    }
    listed = set()
    for page in (book / "pages").rglob("*.ipynb"):
        for cell in read(page)["cells"]:
            if cell["source"].startswith("```{toctree}"):
                names = [line for line in cell["source"].splitlines()[1:-1] if line and not line.startswith(":")]
                listed |= {(page.parent / f"{name}.ipynb").relative_to(book / "pages") for name in names}
    assert listed == {file.relative_to(COURSE) for file in NOTEBOOKS} - {Path("index.ipynb")}


def test_every_link_of_the_pages_leads_to_a_page_or_a_line(book):
    """As `broken_links` on the finished site; a notebook's page is not made yet, and has the notebook's name."""
    wrong, lines = [], 0
    for page in (book / "pages").rglob("*.ipynb"):
        markdown = "".join(cell["source"] for cell in read(page)["cells"] if cell["cell_type"] == "markdown")
        for target in re.findall(r'href="([^"]+)"', outputs(page) + markdown):
            path, _, place = unescape(target).partition("#")
            if re.match(r"[a-z]+:", path):
                continue
            file = Path(str((page.parent / path).resolve()).replace(f"{book}/pages/source/", f"{book}/extra/source/"))
            exists = file.exists() or (file.suffix == ".html" and file.with_suffix(".ipynb").exists())
            wrong += [] if exists else [f"{page.relative_to(book)}: {target}"]
            if place.startswith("line-"):
                lines += 1
                wrong += [] if f'id="{place}"' in file.read_text() else [f"{page.relative_to(book)}: {target}"]
    assert wrong == []
    assert lines > 100


def test_links_to_notebooks_and_sources_lead_to_pages(book):
    assert 'href="00_setup/lesson.html"' in outputs(book / "pages" / "index.ipynb")
    assert 'href="../source/cpp/c10/core/TensorImpl.h.html#line-' in outputs(book / "pages/02_tensor/lesson.ipynb")
    assert ".ipynb" not in "".join(re.findall(r'href="([^"]+)"', outputs(book / "pages" / "glossary.ipynb")))


def test_a_picture_is_described_by_its_caption(book):
    cells = read(book / "pages" / "index.ipynb")["cells"]
    described = [cell["metadata"]["mystnb"]["image"]["alt"] for cell in cells if "mystnb" in cell["metadata"]]
    assert any(text.startswith("the route of 17 chapters") for text in described)


def test_folded_sources_stay_folded(book):
    for file in NOTEBOOKS:
        for cell in read(book / "pages" / file.relative_to(COURSE))["cells"]:
            if cell["metadata"].get("jupyter", {}).get("source_hidden"):
                assert "hide-input" in cell["metadata"]["tags"]


def test_what_brings_a_light_background_is_marked_for_the_dark(book):
    """A listing, an answer and a comparison are light in JupyterLab; the style sheet turns them round in the dark."""
    for cell in read(book / "pages" / "02_tensor" / "lesson.ipynb")["cells"]:
        for output in cell.get("outputs", []):
            html = "".join(output.get("data", {}).get("text/html", ""))
            if "background:#fff" in html:
                assert html.startswith('<div class="paper">')
    glossary = outputs(book / "pages" / "glossary.ipynb")
    assert "paper" not in glossary  # it has no colours of its own, so the theme's hold
    assert ".paper" in (Path(book_of.__file__).parent / "static" / "book.css").read_text()


def test_the_hints_of_an_exercise_are_folded_below_its_check(book):
    for chapter in chapters():
        cells = read(book / "pages" / chapter.folder.name / "exercises.ipynb")["cells"]
        for number, exercise in exercises_of(chapter).items():
            mark = {"exercise": number, "role": "check"}
            position = next(i for i, cell in enumerate(cells) if cell["metadata"].get("reftorch") == mark)
            below = cells[position + 1]["source"]
            assert below.count('<details class="hint">') == len(exercise.hints) == below.count("</details>")
            solutions = [answer.source for answer in exercise.answers]
            assert not [each for each in solutions if each in str(cells)]


def test_a_page_of_source_has_its_lines_and_both_themes(book):
    page = (book / "extra" / "source" / "cpp" / "c10" / "core" / "TensorImpl.h.html").read_text()
    source = (COURSE.parent / "cpp" / "c10" / "core" / "TensorImpl.h").read_text()
    assert f'id="line-{len(source.splitlines())}"' in page
    assert 'href="../../../../index.html"' in page
    assert "prefers-color-scheme: dark" in style_sheet()
    assert "data-theme=dark" in style_sheet()


def test_no_page_of_source_asks_the_network_for_anything(book):
    """A link that one may click is no request; a script, a style or a picture is."""
    for page in (book / "extra").rglob("*.html"):
        assert not re.findall(r"<(?:script|link|img|iframe)[^>]*https?://[^>]*>", page.read_text()), page


def test_a_link_in_markdown_to_a_file_of_source_leads_to_its_page(toy, tmp_path):
    (tmp_path / "cpp").mkdir()
    (tmp_path / "cpp" / "a.cpp").write_text("int a;\nint b;\n")
    (toy.folder / "shot.png").write_bytes(b"png")
    text = "# 07 A toy\n\n[b, `int`](../../cpp/a.cpp#line=1), [next](exercises.ipynb), `[x](a)`, ![shot](shot.png)"
    toy.lesson.write_text(as_text(new_notebook([new_cell("markdown", text, "title")])))
    prepare(tmp_path / "out")
    lesson = read(tmp_path / "out" / "pages" / "07_toy" / "lesson.ipynb")["cells"][0]["source"]
    assert '<a href="../source/cpp/a.cpp.html#line-2">b, <code>int</code></a>' in lesson
    assert "[next](exercises.ipynb)" in lesson  # Sphinx follows it
    assert "`[x](a)`" in lesson
    assert (tmp_path / "out" / "pages" / "07_toy" / "shot.png").read_bytes() == b"png"


def test_a_file_that_a_lesson_will_make_is_no_link_before(toy, tmp_path):
    cell = new_cell("code", "1", "one")
    links = '<a href="../../build/first/a.cpp#line=4">a.cpp</a> <a href="../../gone/b.cpp">b.cpp</a>'
    cell["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": {"text/html": links}}]
    toy.lesson.write_text(as_text(new_notebook([new_cell("markdown", "# 07 A toy", "title"), cell])))
    prepare(tmp_path / "out")
    shown = outputs(tmp_path / "out" / "pages" / "07_toy" / "lesson.ipynb")
    assert "<a >a.cpp</a>" in shown
    assert 'href="../../gone/b.cpp"' in shown  # and so it is found


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%%cpp\nint n = 3;\n", (Token.Keyword.Type, "int")),
        ("%%rebuild a.cpp\n-old\n+new\n\nimport reftorch\n", (Token.Generic.Inserted, "+new")),
        ("%%rebuild a.cpp\n-old\n+new\n\nimport reftorch\n", (Token.Keyword.Namespace, "import")),
        ("%%rebuild a.cpp\n-old\n", (Token.Generic.Deleted, "-old")),
        ("%%real_torch --beside\nimport torch\n", (Token.Keyword.Namespace, "import")),
        ("%load_ext course._tools\nx = 1\n", (Token.Name, "x")),
    ],
)
def test_a_cell_is_coloured_in_the_language_that_its_magic_takes(cell, expected):
    pieces = list(CellLexer().get_tokens(cell))
    assert expected in [(kind, text.strip()) for kind, text in pieces]
    assert "".join(text for _, text in pieces) == cell


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: str(file.relative_to(COURSE)))
def test_no_cell_of_the_course_puzzles_the_lexer(file):
    """Sphinx warns of a piece that the lexer does not know, and a warning is an error."""
    for cell in read(file)["cells"]:
        if cell["cell_type"] == "code":
            assert not [text for kind, text in CellLexer().get_tokens(cell["source"]) if kind is Token.Error]


def test_a_broken_link_is_found(tmp_path):
    here, there = tmp_path / "here.html", tmp_path / "sub" / "there.html"
    there.parent.mkdir()
    links = (
        "sub/there.html#line-2",
        "sub/there.html#line-9",
        "gone.html",
        "#here",
        "#A-%26-B",
        "#gone",
        "https://a.org/b#c",
    )
    anchors = "".join(f'<a class="x" href="{link}">x</a>' for link in links)
    here.write_text(f'{anchors}<p id="here"><p id="A-&amp;-B"><img src="no.png"><script>a = \'<a href="x">\'</script>')
    there.write_text('<a id="line-2"><a href="../here.html?q=1">')
    expected = ["sub/there.html#line-9", "gone.html", "#gone", "no.png"]
    assert broken_links(tmp_path) == [f"here.html: {each}" for each in expected]


def test_the_command_says_what_is_missing(toy, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(book_of, "NEEDED", ("no_such_sphinx",))
    assert main(["book", str(tmp_path / "book")]) == 2
    assert "the book needs no_such_sphinx, which `make book` installs" in capsys.readouterr().err


def test_a_site_that_fails_leaves_the_earlier_one(toy, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(book_of, "NEEDED", ())

    def sphinx(prepared: Path, site: Path, settings: Path) -> None:
        site.mkdir()
        (site / "index.html").write_text('<a href="gone.html">')

    monkeypatch.setattr(book_of, "_sphinx", sphinx)
    earlier = tmp_path / "book" / "index.html"
    earlier.parent.mkdir()
    earlier.write_text("earlier")
    assert main(["book", str(tmp_path / "book")]) == 2
    assert "index.html: gone.html" in capsys.readouterr().err
    assert earlier.read_text() == "earlier"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["book", "course"]


def test_the_command_says_where_the_site_is(toy, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(book_of, "NEEDED", ())

    def sphinx(prepared: Path, site: Path, settings: Path) -> None:
        for notebook in (prepared / "pages").rglob("*.ipynb"):
            page = site / notebook.relative_to(prepared / "pages").with_suffix(".html")
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text("the course")

    monkeypatch.setattr(book_of, "_sphinx", sphinx)
    assert main(["book", str(tmp_path / "book")]) == 0
    assert capsys.readouterr().out.strip().endswith("book/index.html")
    assert (tmp_path / "book" / "index.html").read_text() == "the course"
    assert '"07_toy/lesson.html"' in (tmp_path / "book" / "searchindex.js").read_text()
