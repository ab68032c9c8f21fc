"""The glossary: in order, each word taught by a chapter of the plan, each place there.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import doctest

import pytest

from course._tools import glossary as glossary_of
from course._tools import glossary as shown
from course._tools import source_map
from course._tools.glossary import TERMS
from course._tools.syllabus import SYLLABUS


def test_words_are_in_order_and_stand_once():
    words = [term.word.lower() for term in TERMS]
    assert words == sorted(set(words))


def test_each_word_is_taught_by_a_chapter_of_the_plan_or_by_the_primer():
    assert {term.chapter for term in TERMS} <= {"primer", *(entry.name[:2] for entry in SYLLABUS)}


def test_a_word_of_the_primer_leads_there():
    html = shown("lambda")._repr_mimebundle_()["text/html"]
    assert 'primer.ipynb">primer</a>' in html
    assert repr(shown("lambda")).endswith("(the primer of C++)")


@pytest.mark.parametrize("term", [term for term in TERMS if term.symbol], ids=lambda term: term.word)
def test_each_place_is_in_the_source_map(term):
    assert source_map.find(term.symbol)


def test_all_of_it_is_shown_or_what_is_asked_for():
    assert len(repr(glossary_of()).splitlines()) == len(TERMS)
    assert "TensorImpl.h:" in shown("Stride")._repr_mimebundle_()["text/html"]
    with pytest.raises(LookupError, match="stride"):
        shown("strides")


def test_code_in_a_meaning_is_set_as_code():
    html = shown("leaf")._repr_mimebundle_()["text/html"]
    assert "<code>grad</code>" in html
    assert "`" not in html


def test_the_documented_example_runs():
    import sys

    assert doctest.testmod(sys.modules["course._tools.glossary"]).failed == 0
