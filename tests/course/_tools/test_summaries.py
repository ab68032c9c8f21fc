"""A summary has a handful of sentences and the answer.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import doctest

import pytest

from course._tools import summaries, summary


def test_its_sentences_and_its_answer_are_shown():
    shown = summary("`view` never copies.", "Two.", "Three.", answer="`reshape` may copy & `view` may not.")
    assert repr(shown).splitlines()[1] == "- `view` never copies."
    html = shown._repr_mimebundle_()["text/html"]
    assert ">view</code> never copies." in html
    assert "may copy &amp; <code" in html


@pytest.mark.parametrize("count", [2, 7])
def test_it_is_neither_a_slogan_nor_a_chapter(count):
    with pytest.raises(ValueError, match=f"{count} sentences"):
        summary(*["A sentence."] * count, answer="Yes.")


def test_the_documented_example_runs():
    assert doctest.testmod(summaries).failed == 0
