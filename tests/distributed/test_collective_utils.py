"""Collectives of objects that carry exceptions to all ranks.

Mirrors: test/distributed/test_collective_utils.py
"""

from typing import Any

import pytest

import reftorch.distributed as dist
from reftorch.distributed.collective_utils import all_gather, all_gather_object_enforce_type, broadcast
from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms


def fails() -> None:
    raise ValueError("no data")


def test_one_rank_makes_the_value_and_all_get_it() -> None:
    @spawn_threads_and_init_comms(world_size=3)
    def program() -> Any:
        world, rank = dist.group.WORLD, dist.get_rank()
        calls: list[int] = []
        value = broadcast(lambda: calls.append(rank) or rank * 10, rank=1, pg=world)
        said = []
        for options in ({"data_or_fn": fails, "stage_name": "load"}, {"data_or_fn": None, "success": False}):
            with pytest.raises(RuntimeError) as caught:
                broadcast(pg=world, rank=2, **options)
            said.append(str(caught.value))
        return value, calls, said

    said = ["Rank 2 failed: stage load: exception no data", "Rank 2 failed"]
    assert program() == [(10, [], said), (10, [1], said), (10, [], said)]


def test_all_values_are_gathered_and_an_exception_reaches_all() -> None:
    @spawn_threads_and_init_comms(world_size=3)
    def program() -> Any:
        world, rank = dist.group.WORLD, dist.get_rank()
        values = all_gather(lambda: rank + 1, "count", world)
        said = []
        for data, stage in ((fails if rank == 1 else 3, "x"), (3, "x" if rank < 2 else "y")):
            with pytest.raises(RuntimeError) as caught:
                all_gather(data, stage, world)
            said.append(str(caught.value))
        with pytest.raises(TypeError, match="Object type at index 2 is <class 'str'>, while first object type is"):
            all_gather_object_enforce_type(world, [None] * 3, "text" if rank == 2 else 1)
        return values, said

    for values, said in program():
        assert values == [1, 2, 3]
        assert "(1, ValueError('no data'))" in said[0] and "Unexpected stage name received from rank 2: y" in said[1]


def test_one_process_alone_needs_no_group() -> None:
    assert broadcast(5) == 5 and broadcast(lambda: 6) == 6
    assert all_gather(5) == [5] and all_gather(lambda: 6) == [6]
    with pytest.raises(RuntimeError, match="Rank 0 failed: exception no data"):
        broadcast(fails)
    with pytest.raises(RuntimeError, match="all_gather failed with exception no data"):
        all_gather(fails)
    with pytest.raises(AssertionError, match="expected to be None if not successful"):
        broadcast(1, success=False)
