"""A trace shows the lines that ran and the values that each line changed, in Python and in C++.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import doctest
import re
import sys

import pytest

import reftorch as torch
from course._tools import trace, traces
from reftorch.debug.core.find_gdb import candidates, probe


def halve(n):
    count = 0
    while n > 1:
        n //= 2
        count += 1
    return count


def test_a_loop_of_python_is_shown_turn_by_turn():
    shown = trace(halve, lambda: halve(5), notes={"n //= 2": "the rest is dropped"})
    assert shown.entry == {"n": "5"}
    assert [(row.text.strip(), row.changed) for row in shown.rows] == [
        ("count = 0", {"count": "0"}),
        ("while n > 1:", {}),
        ("n //= 2", {"n": "2"}),
        ("count += 1", {"count": "1"}),
        ("while n > 1:", {}),
        ("n //= 2", {"n": "1"}),
        ("count += 1", {"count": "2"}),
        ("while n > 1:", {}),
        ("return count", {}),
    ]
    assert [row.note for row in shown.rows if row.note] == ["the rest is dropped"]
    assert shown.outcome == "The program returned `2`"


def test_a_comprehension_is_one_row():
    """From Python 3.12 on its turns run in the frame of the function, and its variable is a local there meanwhile."""

    def program(n):
        squares = [i * i for i in range(n)]
        lists = {
            k: [-j for j in range(k)]  # a comprehension in another one
            for k in squares
        }
        for i in (0,):
            n += i
        return lists

    assert [(row.text.strip(), row.changed) for row in trace(program, lambda: program(2)).rows] == [
        ("squares = [i * i for i in range(n)]", {"squares": "[0, 1]"}),
        ("lists = {", {"lists": "{0: [], 1: [0]}"}),
        ("for i in (0,):", {"i": "0"}),
        ("n += i", {}),
        ("for i in (0,):", {}),
        ("return lists", {}),
    ]


def test_only_the_watched_locals_are_shown():
    shown = trace(halve, lambda: halve(4), watch=["count"])
    assert {name for row in shown.rows for name in row.changed} == {"count"}
    assert shown.entry == {"n": "4"}


def test_a_function_of_the_library_is_named_in_words():
    module = torch.nn.Module()
    shown = trace("nn.Module.register_buffer", lambda: module.register_buffer("b", torch.zeros(2)))
    assert shown.path == "reftorch/nn/modules/module/__init__.py"
    assert "name = 'b'" in repr(shown)


def test_an_error_of_the_program_is_its_outcome():
    shown = trace("nn.Module.register_buffer", lambda: torch.nn.Module().register_buffer("", torch.zeros(2)))
    assert shown.outcome.startswith("The program raised `KeyError: ")


def test_the_debugger_that_was_there_is_there_again():
    def nobody(frame, event, argument):
        return None

    before = sys.gettrace()
    sys.settrace(nobody)
    try:
        trace(halve, lambda: halve(2))
        assert sys.gettrace() is nobody
    finally:
        sys.settrace(before)


def test_a_program_that_never_calls_the_function_is_an_error():
    with pytest.raises(LookupError, match="did not call halve"):
        trace(halve, lambda: 1 / 0)


def test_it_may_begin_and_end_at_lines_of_the_function():
    def program(n):
        total = n
        total += 1
        return total

    rows = trace(program, lambda: program(1), first="total += 1").rows
    assert [row.text.strip() for row in rows] == ["total += 1", "return total"]
    rows = trace(program, lambda: program(1), last="total += 1").rows
    assert [row.text.strip() for row in rows] == ["total = n", "total += 1"]
    with pytest.raises(LookupError, match="no line that ran holds 'nowhere'"):
        trace(program, lambda: program(1), first="nowhere")


def test_lines_may_be_left_out():
    rows = trace(halve, lambda: halve(4), skip=["while n"]).rows
    assert [row.text.strip() for row in rows] == [
        "count = 0",
        "n //= 2",
        "count += 1",
        "n //= 2",
        "count += 1",
        "return count",
    ]
    with pytest.raises(LookupError, match="nowhere"):
        trace(halve, lambda: halve(4), skip=["nowhere"])


def test_a_note_stands_with_the_values_and_the_arguments_have_a_row_of_their_own():
    html = trace(halve, lambda: halve(2), notes={"n //= 2": "the rest is dropped"})._repr_mimebundle_()["text/html"]
    assert re.search(r"n = 1</span><div [^>]*>the rest is dropped</div></td></tr>", html)
    assert re.search(r'<td colspan="2"[^>]*><i [^>]*>called with</i> <span [^>]*>n = 2</span></td></tr>', html)


def test_a_note_without_its_line_is_an_error():
    with pytest.raises(LookupError, match="no line that ran holds 'nowhere'"):
        trace(halve, lambda: halve(2), notes={"nowhere": ""})


def test_more_rows_than_a_screen_are_cut_and_said():
    shown = trace(halve, lambda: halve(2**40), most=10)
    assert len(shown.rows) == 10
    assert shown.outcome.startswith("Only the first 10 lines are shown. The program returned")


@pytest.mark.parametrize("gdb", [path for path in candidates() if not isinstance(probe(path), str)])
def test_a_function_of_cpp_is_stepped_through_by_each_gdb(gdb, monkeypatch):
    monkeypatch.setenv("REFTORCH_GDB", gdb)
    x = torch.arange(6.0).reshape(2, 3)
    shown = trace("computeStride", lambda: x.t().view(6))
    assert shown.entry == {"oldshape": "[3, 2]", "oldstride": "[1, 3]", "newshape": "[6]"}
    changed = [row.changed for row in shown.rows if row.text.strip().startswith("int64_t run_stride")]
    assert changed == [{"run_stride": "3"}]
    assert shown.outcome.startswith("The program raised `RuntimeError: view size is not compatible")
    assert "return std::nullopt;" in shown.rows[-1].text


def test_the_documented_example_runs():
    assert doctest.testmod(traces).failed == 0


def test_a_long_struct_of_cpp_is_cut():
    """gdb writes all fields of a struct, with their names, and `call_recorded` has such an argument."""
    assert traces._cut("12345", 5) == "12345"
    assert traces._cut("123456", 5) == "1234…"
