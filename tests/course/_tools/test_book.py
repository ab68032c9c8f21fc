"""The book: every notebook is a page, its pictures are in it, and every link leads to a page or a line.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import re

import nbformat
import pytest

from course._tools.book import broken_links, make_book
from course._tools.cli import main
from course._tools.layout import chapters, pages


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")
    return folder, make_book(folder)


def test_every_notebook_is_a_page(book):
    folder, made = book
    notebooks = [*pages(), *(file for chapter in chapters() for file in (chapter.lesson, chapter.exercises))]
    expected = {folder / "course" / file.relative_to(pages()[0].parent).with_suffix(".html") for file in notebooks}
    assert expected <= set(made)


def test_no_link_leads_nowhere(book):
    assert broken_links(book[1]) == []


def test_links_to_notebooks_and_sources_lead_to_pages(book):
    folder, _ = book
    text = (folder / "course" / "index.html").read_text()
    assert 'href="00_setup/lesson.html"' in text
    assert ".ipynb" not in "".join(part.split('"')[0] for part in text.split('href="')[1:] if "://" not in part[:9])
    lesson = (folder / "course" / "02_tensor" / "lesson.html").read_text()
    assert 'href="../../source/cpp/c10/core/TensorImpl.h.html#line-' in lesson


def test_every_picture_is_in_it(book):
    folder, _ = book
    for chapter in chapters():
        cells = nbformat.read(chapter.lesson, as_version=4).cells
        pictures = sum("image/svg+xml" in output.get("data", {}) for c in cells for output in c.get("outputs", []))
        page = (folder / "course" / chapter.folder.name / "lesson.html").read_text()
        assert page.count("data:image/svg+xml;base64,") >= pictures > 0


def test_the_code_that_draws_a_picture_is_left_out(book):
    text = (book[0] / "course" / "index.html").read_text()
    assert "the floor of the" in text
    assert "OperatorHandle::callBoxed" not in text.split("One call, all the way")[1].split("base64")[0]


def test_no_page_asks_the_network_for_anything(book):
    """A link that one may click is no request; a script, a style or a picture is."""
    for page in book[1]:
        assert not re.findall(r"<(?:script|link|img|iframe)[^>]*https?://[^>]*>", page.read_text()), page


def test_a_broken_link_is_found(tmp_path):
    here, there = tmp_path / "here.html", tmp_path / "there.html"
    links = ("there.html#line-2", "there.html#line-9", "gone.html", "#here", "#A-%26-B", "#gone", "https://a.org/b#c")
    here.write_text("".join(f'<a href="{link}">x</a>' for link in links) + '<p id="here"><p id="A-&amp;-B">')
    there.write_text('<a id="line-2">')
    expected = ["here.html: there.html#line-9", "here.html: gone.html", "here.html: #gone"]
    assert broken_links([here]) == expected


def test_the_command_says_where_the_book_is(toy, tmp_path, capsys):
    assert main(["book", str(tmp_path / "book")]) == 0
    assert capsys.readouterr().out.strip().endswith("course/index.html")
    assert (tmp_path / "book" / "course" / "07_toy" / "lesson.html").exists()
