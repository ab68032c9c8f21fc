"""The sampler of several processes.

Mirrors: test/distributed/test_data_parallel.py
"""

from types import ModuleType

import pytest

import reftorch
from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
from reftorch.utils.data import DistributedSampler


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize(("length", "replicas"), [(10, 2), (10, 3), (2, 5), (11, 4)])
def test_shares_are_those_of_torch(
    real_torch: ModuleType, length: int, replicas: int, shuffle: bool, drop_last: bool
) -> None:
    def shares(lib: ModuleType) -> list[list[list[int]]]:
        result = []
        for epoch in (0, 3):
            for rank in range(replicas):
                sampler = lib.utils.data.DistributedSampler(range(length), replicas, rank, shuffle, 7, drop_last)
                sampler.set_epoch(epoch)
                assert len(sampler) == len(list(sampler))
                result.append(list(sampler))
        return result

    assert shares(reftorch) == shares(real_torch)


def test_errors() -> None:
    with pytest.raises(ValueError, match=r"Invalid rank 2, rank should be in the interval \[0, 1\]"):
        DistributedSampler(range(3), 2, 2)
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        DistributedSampler(range(3))


def test_the_group_is_asked() -> None:
    @spawn_threads_and_init_comms(timeout=30, world_size=2)
    def shares() -> list[int]:
        sampler = DistributedSampler(range(5), shuffle=False)
        assert list(DistributedSampler(range(3), 3, 2, shuffle=False)) == [2]  # numbers that are given win
        return list(sampler)

    assert shares() == [[0, 2, 4], [1, 3, 0]]
