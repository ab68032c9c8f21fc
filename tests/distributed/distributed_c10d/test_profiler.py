"""Collectives and messages in the profiler: each is an event from its call to its end.

Mirrors: torch/testing/_internal/distributed/distributed_test.py (the tests of profilers)
"""

from typing import Any

import reftorch as torch
import reftorch.distributed as dist
from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms


def test_each_call_is_an_event_that_ends_on_another_thread() -> None:
    @spawn_threads_and_init_comms(world_size=2)
    def program() -> Any:
        def calls() -> None:
            x = torch.ones(2, 3)
            dist.all_reduce(x)
            work: Any = dist.broadcast(torch.ones(4), src=0, async_op=True)
            work.wait()
            (dist.send if dist.get_rank() == 0 else dist.recv)(torch.ones(5), 1 - dist.get_rank())
            dist.barrier()

        if dist.get_rank() == 1:
            return calls()
        with torch.autograd.profiler.profile(record_shapes=True) as profile:
            calls()
        return profile

    profile, _ = program()
    found = {event.name: event for event in profile.function_events if event.name.startswith("gloo:")}
    shapes = {name: event.input_shapes for name, event in found.items()}
    assert shapes == {"gloo:all_reduce": [[2, 3]], "gloo:broadcast": [[4]], "gloo:send": [[5]], "gloo:barrier": []}
    for event in found.values():
        assert event.is_async and event.cpu_parent is None and not event.cpu_children
        assert event.time_range.elapsed_us() > 0 and event.self_cpu_time_total == 0
    table = profile.key_averages()
    assert {"gloo:all_reduce", "aten::ones"} <= {each.key for each in table}
