"""The report of a stop: no part of it is longer than a screen.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
"""

from __future__ import annotations

from reftorch.debug.core.gdb_report import SCREENFUL, fold


def test_a_stack_that_is_longer_than_a_screen_is_scrolled():
    rows = [("c++ file.cpp:1", "f")] * SCREENFUL
    assert "overflow" not in fold("stack", rows)
    assert 'overflow-y:auto"><table>' in fold("stack", [*rows, *rows])
