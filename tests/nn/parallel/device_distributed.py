"""DistributedDataParallel on simulated devices or GPUs equals the CPU's: run by distributed_c10d/test_nccl.py.

Mirrors: test/distributed/test_c10d_nccl.py
"""

import threading
from datetime import timedelta
from typing import Any

import pytest

import reftorch as torch
from tests.distributed.distributed_c10d.device_nccl import good
from tests.nn.parallel import ddp_program
from tests.nn.parallel.ddp_ranks import near

SIZE = 2
pytestmark = pytest.mark.skipif(torch.cuda.device_count() < SIZE, reason="needs two devices")
CASES = ("view", "unused view", "many buckets", "no_sync", "allreduce hook")


def train(case: str, on_devices: bool) -> list[Any]:
    """Return what each rank found; a rank is a thread with a group of its own."""
    store: Any = torch.distributed.HashStore()
    results: list[Any] = [None] * SIZE

    def run(rank: int) -> None:
        try:
            if on_devices:
                torch.cuda.set_device(rank)
                group: Any = torch.distributed.ProcessGroupNCCL(store, rank, SIZE, timedelta(seconds=60))
                results[rank] = ddp_program.train(torch, case, group, rank, SIZE, torch.device("cuda", rank))
            else:
                group = ddp_program.group_of(torch, store, rank, SIZE)
                results[rank] = ddp_program.train(torch, case, group, rank, SIZE)
        except Exception as error:
            results[rank] = error

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(SIZE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads), "a rank does not end"
    return good(results)


@pytest.mark.parametrize("case", CASES)
def test_a_training_on_devices_equals_the_cpu(case: str) -> None:
    near(train(case, on_devices=True), train(case, on_devices=False))
