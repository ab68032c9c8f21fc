"""A table is aligned text in a terminal and HTML in a notebook.

Mirrors: nothing in PyTorch: it has no such table.
"""

import pytest

from reftorch.debug.common.table import Table, bytes_text

TABLE = Table(["name", "n"], [("  a<b", 1234), ("c", None)], "caption", ["note"], {1})


def test_text() -> None:
    assert str(TABLE) == "caption\nname       n\n-----  -----\n  a<b  1,234\nc\nnote"


def test_html() -> None:
    html = TABLE._repr_html_()
    assert "<b>caption</b>" in html and "&nbsp;&nbsp;a&lt;b" in html and ">note<" in html
    assert html.count("<tr") == 3 and html.count("color:#cf222e") == 1 and "text-align:right" in html


def test_without_headers_or_rows() -> None:
    assert str(Table(["", ""], [("a", "b")], "caption")) == "caption\na  b"
    assert str(Table([], [], "caption")) == "caption" and "<table" not in Table([], [], "caption")._repr_html_()


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (-2048, "-2.0 KiB"), (5 * 2**40, "5120.0 GiB")]
)
def test_bytes(count: int, text: str) -> None:
    assert bytes_text(count) == text
