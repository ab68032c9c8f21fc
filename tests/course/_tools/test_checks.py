"""`check`: it passes by comparing, and by nothing else.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import doctest
import json

import pytest

from course._tools import checks
from course._tools.checks import CheckFailed, NotDone, check


class Tensor:
    """As much of a tensor as `close` looks at."""

    def __init__(self, values, shape, dtype="float32"):
        self.values, self.shape, self.dtype = values, shape, dtype

    def detach(self):
        return self

    flatten = detach

    def tolist(self):
        return self.values


def test_it_passes_and_says_what_it_checked(capsys):
    with check("03.1", "a sum") as c:
        c.equal("1 + 1", came=2, expected=2)
    assert capsys.readouterr().out == "exercise 03.1: passed: a sum\n"


@pytest.mark.parametrize(("came", "expected"), [(3, 2), (2.0, 2), (True, 1), ((1,), [1]), (None, 2)])
def test_a_difference_in_value_or_type_fails_with_both(came, expected, capsys):
    with pytest.raises(CheckFailed, match=r"exercise 03\.1") as failure, check("03.1", "a sum") as c:
        c.equal("1 + 1", came=came, expected=expected)
    assert f"came:     {came!r}" in str(failure.value)
    assert f"expected: {expected!r}" in str(failure.value)
    assert "passed" not in capsys.readouterr().out


def test_a_matrix_that_came_stands_in_columns(capsys):
    with pytest.raises(CheckFailed), check("03.1", "rows") as c:
        c.true("rows", False, came="[[1,\n  2]]", expected="[[3,\n  4]]")
    assert "  came:     [[1,\n              2]]\n  expected: [[3,\n              4]]" in capsys.readouterr().out


def test_a_check_that_compared_nothing_fails():
    with pytest.raises(CheckFailed, match="compared nothing"), check("03.1", "a sum"):
        pass


def test_a_stub_is_told_apart_from_an_op_that_is_not_implemented():
    with pytest.raises(NotDone, match=r"03.1: not done"), check("03.1", "a sum"):
        raise NotImplementedError("exercise 03.1")
    with pytest.raises(CheckFailed, match="no kernel for CUDA"), check("03.1", "a sum"):
        raise NotImplementedError("no kernel for CUDA")


def in_a_cell(source: str):
    """What a cell with this source defines: its code has the name of a file that is not there."""
    defined = {}
    exec(compile(source, "/tmp/ipykernel_1/2.py", "exec"), defined)
    return defined


def test_an_error_in_the_learners_code_fails_and_shows_the_line_of_the_cell():
    answer = in_a_cell("def answer():\n    return 1 / 0\n")["answer"]
    with pytest.raises(CheckFailed, match="ZeroDivisionError") as failure, check("03.1", "a sum") as c:
        c.equal("1 / 0", came=answer(), expected=1)
    shown = failure.value._render_traceback_()
    assert shown[0].startswith("Traceback")
    assert shown[1] == "  your cell, line 2, in answer"
    assert shown[-1].startswith("exercise 03.1: failed")  # what came and what was expected stands in the report above


def test_an_error_says_how_far_the_check_had_come():
    def checked():
        with check("03.1", "sums") as c:
            c.equal("1 + 1", came=2, expected=2)
            c.equal("1 + x", came=1 + int("x"), expected=3)

    with pytest.raises(CheckFailed, match=r"failed: sums, after this held: 1 \+ 1"):
        checked()


def test_an_error_names_the_case_in_which_the_learners_code_raised():
    def checked():
        with check("03.1", "sums") as c:
            c.equal(c.case("1 + 1"), came=2, expected=2)
            case = c.case("1 + x")
            c.equal(case, came=1 + int("x"), expected=3)

    with pytest.raises(CheckFailed, match=r"failed: sums, in this case: 1 \+ x"):
        checked()


@pytest.mark.parametrize(
    ("came", "right"),
    [
        ({"a": "left", "b": 2}, "1 of 2"),
        ({"a": "left"}, "1 of 2"),
        ({"a": "left", "b": True}, "1 of 2"),  # of another type
        ({"c": 1}, "0 of 2"),
    ],
)
def test_a_wrong_answer_to_a_question_of_reading_gets_a_count_and_not_the_right_one(came, right, capsys):
    with pytest.raises(CheckFailed) as failure, check("03.1", "reading") as c:
        c.answers("the places", came=came, truth={"a": "left", "b": 1}, look="Look at the stack.")
    assert f"came:     {right} right" in str(failure.value)
    assert "expected: 2 of 2 right. Look at the stack." in str(failure.value)
    assert "left" not in str(failure.value)
    assert "passed" not in capsys.readouterr().out


def test_a_misspelled_key_is_named_with_the_one_that_is_missing(capsys):
    with pytest.raises(CheckFailed), check("00.1", "two answers") as c:
        c.answers("the places", came={"a": "left", "B": 1}, truth={"a": "left", "b": 1}, look="Look at the stack.")
    shown = capsys.readouterr().out
    assert "came:     1 of 2 right; not asked for: B; no answer for: b\n" in shown


def test_what_a_check_assigns_is_gone_afterwards_and_what_it_changed_is_back():
    """Run as a cell runs: in the namespace of the notebook. `truth` is the usual name for the right answers."""
    for answer, ends in (("1", ""), ("2", "CheckFailed")):
        notebook = {"check": check, "seen": "the learner's own"}
        cell = f"""
with check("00.1", "an answer") as c:
    truth = {{"a": 1}}
    seen = list(truth)
    c.answers("the places", came={{"a": {answer}}}, truth=truth, look="")
"""
        try:
            exec(cell, notebook)
            ended = ""
        except CheckFailed as error:
            ended = type(error).__name__
        assert ended == ends
        assert notebook["seen"] == "the learner's own"
        assert "truth" not in notebook


def test_right_answers_to_a_question_of_reading_pass(capsys):
    with check("03.1", "reading") as c:
        c.answers("the places", came={"a": [1], "b": None}, truth={"a": [1], "b": None}, look="")
    assert capsys.readouterr().out == "exercise 03.1: passed: reading\n"


def test_an_error_of_the_check_itself_or_of_the_library_shows_no_traceback():
    with pytest.raises(CheckFailed, match="invalid literal") as failure, check("03.1", "a number") as c:
        c.equal("a number", came=int("x"), expected=1)
    assert failure.value._render_traceback_() == ["exercise 03.1: failed: a number"]
    with pytest.raises(CheckFailed) as failure, check("03.1", "a number"):
        json.loads("no JSON")  # its file is there
    assert failure.value._render_traceback_() == ["exercise 03.1: failed: a number"]


def answer_of_one_value():
    return 1


RAISES = in_a_cell("def answer():\n    raise ValueError('by itself')\n")["answer"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (answer_of_one_value, r"like its stub: def kernel_of_subtraction\(\) -> tuple\[str, int\]:"),
        (RAISES, "no error from your code"),
    ],
)
def test_an_answer_of_another_form_is_told_from_one_that_raises(answer, expected):
    def checked():
        with check("03.1", "two values") as c:
            one, two = [each for each in answer()]  # noqa: C416 - a frame of its own, before Python 3.12
            c.equal("two values", came=(one, two), expected=(1, 2))

    with pytest.raises(CheckFailed, match=expected):
        checked()


def test_the_form_of_a_stub_in_cpp_is_its_signature():
    with pytest.raises(CheckFailed, match=r"at::Tensor hypotenuse\(const at::Tensor& self"), check("03.3", "a text"):
        len(None)


@pytest.mark.parametrize(
    ("came", "matters"),
    [
        (Tensor([1.0, 2.1], (2,)), "values"),
        (Tensor([1.0, 2.0], (2, 1)), "shape"),
        (Tensor([1.0, 2.0], (2,), "float64"), "dtype"),
        (Tensor([1.0, float("nan")], (2,)), "values"),
        ([1.0, 2.0], "a tensor"),
    ],
)
def test_close_looks_at_shape_dtype_and_values(came, matters):
    expected = Tensor([1.0, 2.0], (2,))
    with pytest.raises(CheckFailed) as failure, check("03.1", "values") as c:
        c.close("values", came=came, expected=expected)
    assert matters in str(failure.value)
    with check("03.1", "values") as c:
        c.close("values", came=Tensor([1.0, 2.0000001], (2,)), expected=expected)


@pytest.mark.parametrize("call", [lambda: None, lambda: int("x"), lambda: (_ for _ in ()).throw(TypeError("no"))])
def test_raises_wants_the_kind_and_the_message(call):
    with pytest.raises(CheckFailed, match="TypeError with 'two'"), check("03.1", "the error") as c:
        c.raises("the error", TypeError, "two", call)


def test_the_documented_example_runs():
    assert doctest.testmod(checks).failed == 0


def test_raises_lets_a_stub_through():
    def stub():
        raise NotImplementedError("exercise 03.1")

    with pytest.raises(NotDone), check("03.1", "the error") as c:
        c.raises("the error", TypeError, "two", stub)


def test_the_debrief_is_shown_when_a_check_passes_and_only_then(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.get_ipython", object)
    monkeypatch.setattr("IPython.display.display", shown.append)
    with pytest.raises(CheckFailed), check("05.3", "counters") as c:
        c.equal("1 + 1", came=3, expected=2)
    assert [type(each).__name__ for each in shown] == ["Report"]
    shown.clear()
    with check("05.3", "counters") as c:
        c.equal("1 + 1", came=2, expected=2)
    assert [type(each).__name__ for each in shown] == ["Report", "Markdown"]
    assert "VariableVersion" in shown[1].data
