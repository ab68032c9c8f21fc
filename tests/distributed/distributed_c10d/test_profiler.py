"""Collectives and messages in the profiler: each is an event from its call to its end.

Mirrors: torch/testing/_internal/distributed/distributed_test.py (the tests of profilers)
"""

import contextlib
from typing import Any

import pytest

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


def test_a_block_names_its_events_and_those_of_no_other_thread() -> None:
    @spawn_threads_and_init_comms(world_size=2)
    def program() -> list[str]:
        with torch.autograd.profiler.profile() if dist.get_rank() == 0 else contextlib.nullcontext() as profile:
            with dist.record_comm("outer") if dist.get_rank() == 0 else contextlib.nullcontext():
                dist.all_reduce(torch.ones(1))
                with dist.record_comm("inner"):
                    dist.barrier()
                dist.barrier()
            dist.all_reduce(torch.ones(1))
        return [e.name for e in profile.function_events if e.is_async] if profile is not None else []

    assert program()[0] == ["outer", "inner", "outer", "gloo:all_reduce"]


@pytest.mark.filterwarnings("ignore::FutureWarning")  # PyTorch deprecates both functions
def test_a_call_for_several_tensors_is_one_event() -> None:
    @spawn_threads_and_init_comms(world_size=2)
    def program() -> Any:
        rank = dist.get_rank()
        many = [torch.full((2, 3), 1.0 + rank), torch.full((4,), 1 + rank), torch.arange(6.0).reshape(2, 3).t()]
        gathered: list[Any] = [[torch.zeros(1), torch.zeros(2)] for _ in range(2)]

        def calls() -> None:
            work: Any = dist.all_reduce_coalesced(many, async_op=True)
            work.wait()
            assert work.result()[1] is many[1]
            dist.all_gather_coalesced(gathered, [torch.full((1,), 2.0 * rank), torch.full((2,), 1.0 * rank)])
            dist.all_reduce_coalesced(torch.ones(1))

        if rank == 1:
            calls()
            return [], [[t.tolist() for t in each] for each in (many, *gathered)]
        with torch.autograd.profiler.profile(record_shapes=True) as profile:
            calls()
        events = [each for each in profile.function_events if each.name.startswith("gloo:")]
        return [(each.name, each.input_shapes) for each in events], [
            [t.tolist() for t in each] for each in (many, *gathered)
        ]

    (events, values), (_, others) = program()
    assert events == [
        ("gloo:all_reduce", [[2, 3], [4], [3, 2]]),
        ("gloo:all_gather", [[1], [2]]),
        ("gloo:all_reduce", [[1]]),
    ]
    assert (
        values
        == others
        == [
            [[[3.0] * 3] * 2, [3] * 4, [[0.0, 6.0], [2.0, 8.0], [4.0, 10.0]]],
            [[0.0], [0.0, 0.0]],
            [[2.0], [1.0, 1.0]],
        ]
    )


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_calls_for_several_tensors_that_differ_are_named() -> None:
    @spawn_threads_and_init_comms(world_size=2)
    def program() -> str:
        with pytest.raises(dist.DistBackendError) as error:
            dist.all_reduce_coalesced([torch.ones(2), torch.ones(3 + dist.get_rank())])
        return str(error.value)

    assert all("#1 all_reduce(SUM) of Float[2] and 1 more tensor" in message for message in program())
