"""How times and bytes are written.

Mirrors: test/profiler/test_profiler.py
"""

import pytest

import reftorch as torch
from reftorch.autograd.profiler_util import EventList, FunctionEvent, FunctionEventAvg
from reftorch.autograd.profiler_util.table import _memory, _percent, written_time


@pytest.mark.parametrize(("us", "text"), [(0.5, "0.500us"), (1500.0, "1.500ms"), (2e6, "2.000s")])
def test_times(us, text):
    assert written_time(us) == text


@pytest.mark.parametrize(("n", "text"), [(0, "0 B"), (-2048, "-2.00 KB"), (3 << 20, "3.00 MB"), (1 << 30, "1.00 GB")])
def test_bytes(n, text):
    assert _memory(n) == text


def test_an_empty_profile():
    assert "Self CPU time total: 0.000us" in EventList().table() and _percent(1, 0) == "NaN"


def event(id, start, end, thread=0, name="call"):
    return FunctionEvent(id=id, name=name, thread=thread, start_us=start, end_us=end)


def test_events_made_by_hand_find_their_parents():
    spans = [(0, 10), (1, 3), (3, 4), (3, 4), (9, 12), (11, 12)]
    events = EventList([event(id, *span) for id, span in enumerate(spans)] + [event(6, 1, 2, thread=1)])
    events._populate_cpu_children()
    children = {e.id: [child.id for child in e.cpu_children] for e in events}
    assert children == {0: [1, 2], 1: [], 2: [3], 3: [], 4: [5], 5: [], 6: []}
    assert events[5].cpu_parent is events[4] and events[4].cpu_parent is None
    assert events[0].self_cpu_time_total == 10 - 2 - 1


def test_events_are_nested_as_torch_nests_them(real_torch):
    def children(util):
        spans = [(1, 0, 1), (1, 1, 2), (0, 0, 2), (0, 1, 2), (0, 1, 3), (0, 2, 3), (0, 1, 3)]
        made = [util.FunctionEvent(id=i, name="", thread=t, start_us=s, end_us=e) for i, (t, s, e) in enumerate(spans)]
        events = util.EventList(made)
        events._populate_cpu_children()
        return [[child.id for child in e.cpu_children] for e in events]

    assert children(torch.autograd.profiler_util) == children(real_torch.autograd.profiler_util)


def test_an_average_takes_events_and_averages():
    average = FunctionEventAvg()
    assert average.cpu_time == 0
    average.add(event(0, 10, 15))
    average += event(1, 20, 30)
    assert average.add(average) is average
    assert (average.key, average.count, average.cpu_time_total, average.cpu_time) == ("call", 4, 30, 7.5)
    assert average.self_cpu_time_total == 30 and average.device_time_total == 0
    with pytest.raises(AssertionError, match="Expected keys to match, but got other vs call"):
        average.add(event(2, 0, 1, name="other"))
    with pytest.raises(AssertionError, match="Expected other to be a FunctionEvent"):
        average.add("other")


def test_the_total_is_of_all_names():
    events = EventList([event(0, 0, 4), event(1, 4, 5, name="other")])
    total = events.total_average()
    assert (total.key, total.count, total.cpu_time_total) == ("Total", 2, 5)
    assert {e.key: e.count for e in events.key_averages()} == {"call": 1, "other": 1}
