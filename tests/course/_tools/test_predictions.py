"""A prediction is kept, compared with what came, and folded where nobody answered.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import doctest

import pytest

from course._tools import predict, predictions, reveal
from course._tools.predictions import agrees


@pytest.fixture(autouse=True)
def nothing_asked(monkeypatch):
    monkeypatch.setattr(predictions, "_latest", None)


def html(shown) -> str:
    return shown._repr_mimebundle_()["text/html"]


def test_without_an_answer_the_cell_says_what_to_do_and_the_reveal_is_folded():
    asked = predict("which share memory?", a=..., b=...)
    assert "Write your answer into this cell" in repr(asked)
    shown = reveal(a=True, b=False, why={"a": "one storage"}, people={"a": {False: "it looks like a copy."}})
    assert repr(shown).startswith("What came (write your answer above, then look)")
    assert "Many say no: it looks like a copy." in repr(shown)
    assert html(shown).startswith("<details style")
    assert "you said" not in html(shown)


def test_with_an_answer_the_reveal_is_open_and_compares():
    predict("which share memory?", a=False, b="no")
    shown = reveal("Nothing moved.", a=True, b=False, people={"a": {False: "it looks like a copy."}})
    assert shown.held == {"a": False, "b": True}
    assert html(shown).startswith("<details open")
    assert "you had 1 of 2" in repr(shown)
    assert "a: yes  (you said no)" in repr(shown)
    assert "You said no, as many do: it looks like a copy." in repr(shown)
    assert repr(shown).endswith("Nothing moved.")


def test_a_reason_that_most_people_have_is_not_told_to_those_who_were_right():
    predict("which share memory?", a=True)
    assert "copy" not in repr(reveal(a=True, people={"a": {False: "it looks like a copy."}}))


def test_reasons_of_other_names_become_rows_of_their_own():
    predict("which of a to c raise?", answer="ab")
    shown = reveal(answer={"a"}, why={"a": "`exp` keeps its result", "b": "nothing is kept"})
    assert "  b: nothing is kept" in repr(shown)
    assert ">exp</code>" in html(shown)


@pytest.mark.parametrize(
    ("said", "came", "holds"),
    [
        (True, True, True),
        ("Yes", True, True),
        ("no", True, False),
        (1, True, True),
        ("da", {"a", "d"}, True),
        ("a, d", {"a", "d"}, True),
        ("a and d", {"a", "d"}, True),
        ("ad", {"a"}, False),
        ("none", set(), True),
        ({"a"}, {"a"}, True),
        ("view, reshape", {"reshape", "view"}, True),
        ("raises", RuntimeError("no"), True),
        ("runtimeerror", RuntimeError("no"), True),
        (RuntimeError, RuntimeError("no"), True),
        ("ValueError", RuntimeError("no"), False),
        (0.54, 0.5403, True),
        (0.5, 0.5403, False),
        (6, 6, True),
        ((1, 3), [1, 3], True),
        ("float32", "float32", True),
        ("torch.float32", "float32", False),
    ],
)
def test_an_answer_is_taken_as_people_write_it(said, came, holds):
    assert agrees(said, came) is holds


def test_a_reveal_belongs_to_its_prediction():
    with pytest.raises(LookupError, match="no prediction yet"):
        reveal(a=1)
    predict("how many?", a=...)
    with pytest.raises(LookupError, match="asked for a, and this cell reveals b"):
        reveal(b=1)


def test_a_question_asks_for_something():
    with pytest.raises(ValueError, match="no answer is asked for"):
        predict("how many?")


def test_the_documented_examples_run():
    assert doctest.testmod(predictions).failed == 0


@pytest.mark.parametrize(("value", "shown"), [(0.33333, "0.3333"), (12345.0, "12,345"), (2e-7, "2e-07"), (3.0, "3")])
def test_a_number_is_shown_as_people_write_it(value, shown):
    predict("which number?", number=...)
    assert repr(reveal(number=value)).splitlines()[-1] == f"  number: {shown}"
