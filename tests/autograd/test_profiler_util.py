"""How times and bytes are written.

Mirrors: test/profiler/test_profiler.py
"""

import pytest

from reftorch.autograd.profiler_util import EventList, _memory, _percent, _time


@pytest.mark.parametrize(("us", "text"), [(0.5, "0.500us"), (1500.0, "1.500ms"), (2e6, "2.000s")])
def test_times(us, text):
    assert _time(us) == text


@pytest.mark.parametrize(("n", "text"), [(0, "0 b"), (-2048, "-2.00 Kb"), (3 << 20, "3.00 Mb"), (1 << 30, "1.00 Gb")])
def test_bytes(n, text):
    assert _memory(n) == text


def test_an_empty_profile():
    assert "Self CPU time total: 0.000us" in EventList().table() and _percent(1, 0) == "NaN"
