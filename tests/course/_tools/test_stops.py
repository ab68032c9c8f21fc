"""The order in which functions are entered, as gdb tells it.

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
