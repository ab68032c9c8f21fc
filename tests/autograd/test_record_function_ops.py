"""The ops with which a traced program names a part in its profile.

Mirrors: test/profiler/test_profiler.py (test_record_function), test/test_fx.py (test_profiler_ranges_side_effect)
"""

import pytest

import reftorch as torch

profiler = torch.ops.profiler


def test_the_part_holds_what_runs_between_the_two_calls() -> None:
    with torch.autograd.profiler.profile() as prof:
        outer = profiler._record_function_enter("outer", "3 rows")
        inner = profiler._record_function_enter("inner")
        torch.ones(2).exp()
        profiler._record_function_exit(inner)
        assert profiler._record_function_exit(outer) is None
        torch.ones(2).sin()
    events = {event.name: event for event in prof.function_events}
    assert "aten::exp" in [child.name for child in events["inner"].cpu_children]
    assert "inner" in [child.name for child in events["outer"].cpu_children]
    assert events["aten::sin"].cpu_parent is None
    assert not [name for name in events if name.startswith("profiler::")]


def test_a_handle_ends_once() -> None:
    handle = profiler._record_function_enter("once")
    profiler._record_function_exit(handle)
    with pytest.raises(RuntimeError, match="expected the handle of an event that runs"):
        profiler._record_function_exit(handle)
    with pytest.raises(RuntimeError, match="expected the handle of an event that runs"):
        profiler._record_function_exit(torch.ones(2))
