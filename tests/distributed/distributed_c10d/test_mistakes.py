"""Ranks that do not do the same: each mistake is named on all ranks, with the line of each.

Mirrors: test/distributed/test_pg_wrapper.py
"""

import os
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

import reftorch
import reftorch.distributed as dist
from tests.distributed.ranks import play

ones = reftorch.ones


def broadcast(group: Any, tensor: Any, root: int) -> Any:
    opts = dist.BroadcastOptions()
    opts.rootRank = root
    return group.broadcast([tensor], opts)


MISTAKES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], str, str]] = {
    "size": (
        lambda g: g.allreduce([ones(8)]),
        lambda g: g.allreduce([ones(4)]),
        "all_reduce(SUM) of Float[8]",
        "Float[4]",
    ),
    "dtype": (
        lambda g: g.allreduce([ones(8)]),
        lambda g: g.allreduce([ones(8).int()]),
        "all_reduce(SUM) of Float[8]",
        "all_reduce(SUM) of Int[8]",
    ),
    "operation": (
        lambda g: g.allreduce([ones(8)]),
        lambda g: g.allreduce([ones(8)], op=dist.ReduceOp.MAX),
        "all_reduce(SUM)",
        "all_reduce(MAX)",
    ),
    "collective": (
        lambda g: g.barrier(),
        lambda g: broadcast(g, ones(2), 0),
        "barrier",
        "broadcast from rank 0 of Float[2]",
    ),
    "root": (lambda g: broadcast(g, ones(2), 1), lambda g: broadcast(g, ones(2), 0), "from rank 1", "from rank 0"),
}


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("name", MISTAKES)
def test_a_call_that_differs_is_named_on_all_ranks(name: str, size: int) -> None:
    usual, odd, usual_text, odd_text = MISTAKES[name]

    def run(group: Any, rank: int) -> str:
        group.barrier().wait()
        begin = time.monotonic()
        with pytest.raises(dist.DistBackendError) as error:
            (odd if rank == 1 else usual)(group).wait()
        assert time.monotonic() - begin < 20  # of a timeout of a minute
        return str(error.value)

    for rank, text in enumerate(play(reftorch, size, run)):
        assert text.startswith(f"[rank {rank}] #2 "), text
        assert usual_text in text and odd_text in text, text
        assert text.count("test_mistakes.py:") >= 2, text


def test_another_order_is_named() -> None:
    def run(group: Any, rank: int) -> str:
        first, second = ones(2), ones(3)
        works = [group.allreduce([tensor]) for tensor in ((first, second) if rank == 0 else (second, first))]
        with pytest.raises(dist.DistBackendError, match="the process group has failed before"):
            works[1].wait()
        return str(works[0].exception())

    zero, one = play(reftorch, 2, run)
    assert "here #1 all_reduce(SUM) of Float[2]" in zero and "rank 1 #1 all_reduce(SUM) of Float[3]" in zero
    assert "here #1 all_reduce(SUM) of Float[3]" in one


def test_shapes_of_one_size_may_differ() -> None:
    def run(group: Any, rank: int) -> float:
        tensor = ones(2, 3) if rank == 0 else ones(6)
        group.allreduce([tensor]).wait()
        return tensor.sum().item()

    assert play(reftorch, 2, run) == [12.0, 12.0]


def test_a_rank_that_does_not_come_is_asked_what_it_does() -> None:
    def run(group: Any, rank: int) -> str:
        group.allreduce([ones(2)]).wait()
        if rank == 1:
            time.sleep(1.2)  # longer than the timeout
            return ""
        with pytest.raises(dist.DistBackendError) as error:
            group.allreduce([ones(3)]).wait()
        return str(error.value)

    zero, _, two = play(reftorch, 3, run, timeout=0.6)
    first = next(text for text in (zero, two) if "Timed out" in text.split("The first report")[0])
    assert "rank 1 has ended its last call, #1 all_reduce(SUM) of Float[2] at " in first
    assert "(after 600 ms)" in first


PROGRAM = """
import os, signal, sys, time
import reftorch as torch
import reftorch.distributed as dist
from datetime import timedelta
dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=int(sys.argv[2]), world_size=2,
                        timeout=timedelta(seconds=60))
child = None
if sys.argv[2] == "1":
    child = os.fork()  # as a worker of a DataLoader: it has copies of the connections
    if child == 0:
        time.sleep(40)
        os._exit(0)
    sys.stdout.write(f"{child}\\n")
    sys.stdout.flush()
tensor = torch.ones(3)
dist.all_reduce(tensor)
if child:
    os.kill(os.getpid(), signal.SIGKILL)
begin = time.monotonic()
try:
    for _ in range(2):
        dist.all_reduce(tensor)
except dist.DistBackendError as error:
    print(time.monotonic() - begin < 10, error)
"""


def test_a_rank_that_is_killed_is_noticed_though_its_child_lives(tmp_path: Any) -> None:
    import subprocess
    import sys

    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "store")]
    ranks = [subprocess.Popen([*command, str(rank)], stdout=subprocess.PIPE, text=True) for rank in range(2)]
    said = [rank.stdout.readline() for rank in reversed(ranks) if rank.stdout]
    try:
        assert said[1].startswith("True [rank 0] #"), said
        assert "rank 1 has ended, or has failed before" in said[1]
        assert ranks[0].wait(20) == 0 and ranks[1].wait(20) == -signal.SIGKILL
    finally:
        os.kill(int(said[0]), signal.SIGKILL)
        for rank in ranks:
            rank.kill()
            if rank.stdout:
                rank.stdout.close()


def test_a_group_that_was_aborted_or_destroyed_says_so() -> None:
    group = dist.ProcessGroupGloo(dist.HashStore(), 0, 1)
    group.abort()
    with pytest.raises(dist.DistBackendError, match="the process group was aborted"):
        group.allreduce([ones(1)]).wait()
    group.shutdown()
    with pytest.raises(dist.DistBackendError, match="the process group was destroyed"):
        group.allreduce([ones(1)])
