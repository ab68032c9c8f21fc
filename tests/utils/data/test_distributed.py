"""The sampler of several processes.

Mirrors: test/distributed/test_data_parallel.py
Leaves out: process groups.
"""

from types import ModuleType

import pytest

import reftorch
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
    with pytest.raises(RuntimeError, match="give num_replicas and rank"):
        DistributedSampler(range(3))
