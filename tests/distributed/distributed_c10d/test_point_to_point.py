"""Messages between two ranks.

Mirrors: test/distributed/test_c10d_gloo.py
"""

from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest

import reftorch
import reftorch.distributed as dist
from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
from tests.answers.watched import asked
from tests.distributed.distributed_c10d.test_collectives import FLOATS, INTEGERS, numbers
from tests.distributed.ranks import good, play


def test_messages_of_every_dtype_and_tag(real_torch: ModuleType) -> None:
    def program(lib: Any) -> list[Any]:
        def run(group: Any, rank: int) -> list[Any]:
            found = []
            for dtype in (*FLOATS, *INTEGERS):
                if rank == 0:
                    sent = [numbers(lib, dtype, 1), numbers(lib, dtype, 2)]
                    for work in [group.send([sent[0]], 1, 7), group.send([sent[1]], 1, 3)]:
                        work.wait()
                else:  # in the other order: the tag says which is which
                    second, first = numbers(lib, dtype, 0), numbers(lib, dtype, 0)
                    group.recv([second], 0, 3).wait()
                    group.recv([first], 0, 7).wait()
                    found.append([first.double().tolist(), second.double().tolist()])
            return found

        return good(play(lib, 2, run))

    assert program(reftorch) == asked(real_torch, program)


def test_two_ranks_that_both_send_first_do_not_wait_for_each_other() -> None:
    """Eight megabytes are more than the buffers of the kernel take."""

    def run(group: Any, rank: int) -> float:
        sent, received = reftorch.full((2 << 20,), float(rank)), reftorch.zeros(2 << 20)
        group.send([sent], 1 - rank, 0).wait()
        group.recv([received], 1 - rank, 0).wait()
        return received.mean().item()

    assert good(play(reftorch, 2, run)) == [1.0, 0.0]


def test_any_source_and_its_rank() -> None:
    @spawn_threads_and_init_comms(world_size=4)
    def program() -> Any:
        rank, group = dist.get_rank(), dist.new_group([1, 2, 3])
        if rank == 0:
            senders, message = [], reftorch.zeros(1)
            for _ in range(3):
                senders.append(dist.recv(message))
                assert message.item() == senders[-1]
            return sorted(senders)
        dist.send(reftorch.tensor([float(rank)]), dst=0)
        if rank == 3:  # in the group, ranks are others; recv says the global one
            dist.send(reftorch.tensor([5.0]), group_dst=0, group=group)  # type: ignore[arg-type]
        return dist.recv(reftorch.zeros(1), group=group) if rank == 1 else None  # type: ignore[arg-type]

    assert program() == [[1, 2, 3], 3, None, None]


def test_a_batch_in_a_ring() -> None:
    @spawn_threads_and_init_comms(world_size=3)
    def program() -> list[float]:
        rank, got = dist.get_rank(), [reftorch.zeros(1), reftorch.zeros(1)]
        ahead, behind = (rank + 1) % 3, (rank - 1) % 3
        ops = [
            dist.P2POp(dist.irecv, got[0], behind),
            dist.P2POp(dist.isend, reftorch.tensor([rank + 0.5]), behind, tag=1),
            dist.P2POp(dist.irecv, got[1], ahead, tag=1),
            dist.P2POp(dist.isend, reftorch.tensor([float(rank)]), ahead),
        ]
        assert "P2POp(irecv pg=0" in repr(ops[0])
        for work in dist.batch_isend_irecv(ops):
            work.wait()
        return [tensor.item() for tensor in got]

    assert program() == [[2.0, 1.5], [0.0, 2.5], [1.0, 0.5]]


def test_messages_and_collectives_do_not_mix() -> None:
    def run(group: Any, rank: int) -> list[float]:
        total, message = reftorch.tensor([1.0]), reftorch.zeros(3)
        work = group.recv([message], 1 - rank, 4) if rank == 0 else None
        for _ in range(20):
            group.allreduce([total]).wait()
        if work is None:
            group.send([reftorch.tensor([1.0, 2.0, 3.0])], 0, 4).wait()
        else:
            work.wait()
        return [total.item(), *message.tolist()]

    assert good(play(reftorch, 2, run)) == [[2.0**20, 1.0, 2.0, 3.0], [2.0**20, 0.0, 0.0, 0.0]]


def test_mistakes_are_named() -> None:
    def run(group: Any, rank: int) -> list[str]:
        said = []
        if rank == 0:
            group.send([reftorch.ones(3)], 1, 0).wait()
            return said
        for call in (lambda: group.recv([reftorch.zeros(2)], 0, 0), lambda: group.recv([reftorch.zeros(2)], 0, 9)):
            try:
                call().wait()
            except dist.DistBackendError as error:
                said.append(str(error))
        return said

    _, said = good(play(reftorch, 2, run, timeout=1))
    assert said[0] == "recv: expected a message of 8 bytes, but rank 0 sent one of 12 bytes with the tag 0"
    assert "rank 0 has ended" in said[1] or "Timed out: no message came" in said[1]


def test_a_receive_gives_up_at_the_timeout() -> None:
    def run(group: Any, rank: int) -> str:
        work = group.recv([reftorch.zeros(1)], 1 - rank, 0)
        assert not work.is_completed()
        with pytest.raises(dist.DistBackendError, match="has not ended after 10 ms"):
            work.wait(timedelta(milliseconds=10))
        try:
            work.wait()
        except dist.DistBackendError as error:
            return str(error)
        return ""

    results = good(play(reftorch, 2, run, timeout=0.5))
    assert any("Timed out: no message came" in result for result in results)


def test_ranks_are_checked() -> None:
    @spawn_threads_and_init_comms(world_size=2)
    def program() -> None:
        rank = dist.get_rank()
        with pytest.raises(
            ValueError, match="destination rank should not be the same as the rank of the current process"
        ):
            dist.send(reftorch.ones(1), dst=rank)
        with pytest.raises(ValueError, match="source rank should not be the same"):
            dist.recv(reftorch.ones(1), src=rank)
        with pytest.raises(ValueError, match="expected a tag of 0 or more, but got -1"):
            dist.send(reftorch.ones(1), dst=1 - rank, tag=-1)
        with pytest.raises(ValueError, match="Invalid ``op``"):
            dist.P2POp(dist.send, reftorch.ones(1), 1 - rank)
        with pytest.raises(ValueError, match="Invalid ``p2p_op_list``"):
            dist.batch_isend_irecv([])

    program()
