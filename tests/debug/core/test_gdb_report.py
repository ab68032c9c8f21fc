"""The report of a stop: no part of it is longer than a screen.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
"""

from __future__ import annotations

from reftorch.debug.core.gdb_report import SCREENFUL, GdbReport, fold


def test_a_stack_that_is_longer_than_a_screen_is_scrolled():
    rows = [("c++ file.cpp:1", "f")] * SCREENFUL
    assert "overflow-y" not in fold("stack", rows)
    assert 'overflow-y:auto"><table>' in fold("stack", [*rows, *rows])


def test_the_stacks_of_several_stops_share_a_screen():
    frames = [["c++", "f", "file.cpp", line] for line in range(SCREENFUL)]
    stops = [{"kind": "stop", "number": number, "signal": None, "stack": frames} for number in (1, 2)]
    one, two = GdbReport(stops[:1])._repr_html_(), GdbReport(stops)._repr_html_()
    assert "overflow-y" not in one
    assert two.count("max-height:13em;overflow-y:auto") == 2
