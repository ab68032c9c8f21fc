"""The order in which functions are entered, and the locals at a stop, as gdb tells them.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import pytest

from course._tools import stops


@pytest.fixture
def gdb(monkeypatch: pytest.MonkeyPatch):
    """Let gdb see what is appended to the list."""
    events: list[dict] = []
    monkeypatch.setattr(stops.session, "run_fresh", lambda program, job: (events, ""))
    stops.first_stops.cache_clear()
    yield events
    stops.first_stops.cache_clear()


def test_functions_come_in_the_order_they_were_entered(gdb):
    gdb += [{"kind": "stop", "function": "reftorch::torch::initOps(PyObject*)"}, {"kind": "command", "text": ""}]
    gdb.append({"kind": "stop", "function": "at::f"})
    assert stops.first_stops("import reftorch", "f", "initOps") == ["initOps", "f"]


def test_a_function_that_was_never_entered_is_named_with_what_gdb_said(gdb):
    gdb += [{"kind": "bad_break", "text": "no symbol g"}]
    with pytest.raises(RuntimeError, match=r"did not see g; .*no symbol g"):
        stops.first_stops("import reftorch", "g")


@pytest.fixture
def attached(monkeypatch: pytest.MonkeyPatch):
    """Let an attached gdb see what is appended to the list."""
    events: list[dict] = []
    monkeypatch.setattr(stops.session, "run_attached", lambda run, job: (events, run()))
    return events


def test_the_locals_are_those_of_the_last_stop(attached):
    attached += [{"kind": "stop", "locals": [["i", "0"]]}, {"kind": "stop", "locals": [["i", "1"], ["x", "2.5"]]}]
    assert stops.values_at("f.cpp:3", lambda: None, number=2) == {"i": "1", "x": "2.5"}


def test_too_few_stops_are_said_with_what_gdb_said(attached):
    attached += [{"kind": "stop", "locals": []}, {"kind": "note", "text": "the cell has ended"}]
    with pytest.raises(RuntimeError, match=r"1 of 2 stops at f.cpp:3, and said the cell has ended"):
        stops.values_at("f.cpp:3", lambda: None, number=2)
