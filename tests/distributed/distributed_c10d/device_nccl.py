"""Collectives on three simulated devices or GPUs, compared with gloo on the CPU: run by test_nccl.py.

Mirrors: test/distributed/test_c10d_nccl.py

Each rank is a thread with a device of its own.
"""

import os
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

import reftorch as torch
import reftorch.distributed as dist
from reftorch.testing._internal.common_distributed import _as_rank, _world_of_threads
from tests.distributed.distributed_c10d.test_collectives import FLOATS, INTEGERS, numbers

SIZE = 3
pytestmark = pytest.mark.skipif(torch.cuda.device_count() < SIZE, reason="needs three devices")
BLOCKING = os.environ.get("CUDA_LAUNCH_BLOCKING") == "1"
DTYPES = [*FLOATS, *INTEGERS, "bool"]


def play(
    program: Callable[[int], Any], size: int = SIZE, backend: str | None = "nccl", timeout: float = 60
) -> list[Any]:
    """Return the results of ``program(rank)`` in threads, each with a default group; an exception is a result, too."""
    store = dist.HashStore()
    results: list[Any] = [None] * size

    def run(rank: int, world: Any) -> None:
        torch.cuda.set_device(rank)
        try:
            with _as_rank(world, store, rank, size, timedelta(seconds=timeout), backend):
                results[rank] = program(rank)
        except Exception as error:
            results[rank] = error

    with _world_of_threads() as world:
        threads = [threading.Thread(target=run, args=(rank, world)) for rank in range(size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout + 60)
        assert not any(thread.is_alive() for thread in threads), "a rank does not end"
    return results


def good(results: list[Any]) -> list[Any]:
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results


def reductions() -> list[tuple[str, str]]:
    ops = ("SUM", "PRODUCT", "MIN", "MAX")
    return [(dtype, op) for dtype in DTYPES for op in (*ops, *(["AVG"] if dtype in FLOATS else []))]


def test_reductions_of_all_dtypes_equal_gloo() -> None:
    def program(rank: int) -> list[Any]:
        found = []
        for dtype, name in reductions():
            op = getattr(dist.ReduceOp, name)
            own = numbers(torch, dtype, rank)
            reduced, whole = [], torch.cat([numbers(torch, dtype, rank + i) for i in range(SIZE)])
            for tensor in (own.to(f"cuda:{rank}"), own.clone()):
                device = tensor.device
                everywhere, at_root, part = tensor.clone(), tensor.clone(), torch.zeros_like(tensor)
                dist.all_reduce(everywhere, op)
                dist.reduce(at_root, 1, op)
                dist.reduce_scatter_tensor(part, whole.to(device), op)
                parts = torch.zeros_like(tensor)
                dist.reduce_scatter(parts, list(whole.to(device).chunk(SIZE)), op)
                reduced.append([t.double().tolist() for t in (everywhere, at_root, part, parts)])
            found.append((dtype, name, *reduced))
        return found

    for rank, results in enumerate(good(play(program, backend="cpu:gloo,cuda:nccl"))):
        assert len(results) == 40
        for dtype, name, on_device, on_host in results:
            assert on_device == on_host, (rank, dtype, name)


def test_copies_of_all_dtypes_equal_gloo() -> None:
    def program(rank: int) -> list[Any]:
        following, before = (rank + 1) % SIZE, (rank - 1) % SIZE
        found = []
        for dtype in DTYPES:
            results = []
            for device in (f"cuda:{rank}", "cpu"):
                own = numbers(torch, dtype, rank).to(device)
                sent, zero = own.clone(), torch.zeros_like(own)
                dist.broadcast(sent, 2)
                gathered = [zero.clone() for _ in range(SIZE)]
                dist.all_gather(gathered, own)
                together = torch.zeros(SIZE * 7, dtype=own.dtype, device=device)
                dist.all_gather_into_tensor(together, own)
                at_root = [zero.clone() for _ in range(SIZE)] if rank == 0 else None
                dist.gather(own, at_root, 0)
                part = zero.clone()
                dist.scatter(part, [own + i for i in range(SIZE)] if rank == 1 and dtype != "bool" else
                             [own] * SIZE if rank == 1 else None, 1)  # fmt: skip
                exchanged = [zero.clone() for _ in range(SIZE)]
                dist.all_to_all(exchanged, [own.roll(i) for i in range(SIZE)])
                sizes = [[1, 2, 4], [2, 0, 1], [3, 1, 2]]  # sizes[r][s]: what rank r sends rank s
                come = [sizes[r][rank] for r in range(SIZE)]
                uneven = torch.zeros(sum(come), 2, dtype=own.dtype, device=device)
                rows = torch.stack([own, own], 1)[: sum(sizes[rank])].contiguous()
                dist.all_to_all_single(uneven, rows, come, sizes[rank])
                received = zero.clone()
                for work in dist.batch_isend_irecv(
                    [dist.P2POp(dist.isend, own, following), dist.P2POp(dist.irecv, received, before)]
                ):
                    work.wait()
                single = zero.clone()
                if rank == 0:
                    dist.send(own, 2)
                elif rank == 2:
                    dist.recv(single, 0)
                tensors = [sent, *gathered, together, *(at_root or []), part, *exchanged, uneven, received, single]
                results.append([t.double().tolist() for t in tensors])
            found.append((dtype, *results))
        return found

    for rank, results in enumerate(good(play(program, backend="cpu:gloo,cuda:nccl"))):
        assert len(results) == len(DTYPES)
        for dtype, on_device, on_host in results:
            assert on_device == on_host, (rank, dtype)


def test_an_operation_runs_on_a_stream_and_nobody_waits() -> None:
    def program(rank: int) -> tuple[Any, ...]:
        group = dist.group.WORLD
        dist.barrier()  # the connections are there
        tensor = torch.zeros(1000, device="cuda")
        torch.cuda.synchronize()
        torch.cuda._sleep(300_000_000)  # 0.3 s; the number is written behind it
        tensor.fill_(rank + 1)
        work = dist.all_reduce(tensor, async_op=True)
        called = work.is_completed()
        work.wait()
        waited = work.is_completed()
        doubled = tensor * 2  # on the current stream, which waits for the collective
        result = work.get_future().then(lambda future: future.value()[0] + 1).wait()
        assert group is not None and group._device_types == [torch.device("cuda")]
        return called, waited, doubled.unique().tolist(), result.unique().tolist(), work.is_completed()

    for called, waited, doubled, result, ended in good(play(program)):
        assert (called, waited) == (BLOCKING, BLOCKING) and ended
        assert doubled == [12.0] and result == [7.0]


def test_a_timeout_of_wait_and_a_barrier_wait_on_the_host() -> None:
    def program(rank: int) -> bool:
        dist.barrier()
        torch.cuda._sleep(100_000_000)
        work = dist.all_reduce(torch.ones(3, device="cuda"), async_op=True)
        work.wait(timedelta(seconds=30))
        first = work.is_completed()
        torch.cuda._sleep(100_000_000)
        barrier = dist.barrier(async_op=True, device_ids=[rank])
        barrier.wait()
        return first and barrier.is_completed()

    assert good(play(program)) == [True] * SIZE


def test_calls_that_differ_are_named_on_all_ranks() -> None:
    def program(rank: int) -> str:
        dist.barrier()
        tensor = torch.ones(4 if rank == 0 else 8, device="cuda")
        try:
            dist.all_reduce(tensor, async_op=True).wait(timedelta(seconds=30))
        except dist.DistBackendError as error:
            with pytest.raises(dist.DistBackendError, match="different calls"):
                dist.all_reduce(tensor)
            return str(error)
        return "no error"

    zero, one = good(play(program, size=2))
    assert "[rank 0] #2 all_reduce(SUM) of Float[4] at " in zero and "device_nccl.py:" in zero
    assert "here #2 ncclAllReduce(sum) of 4 Float32; rank 1 #2 ncclAllReduce(sum) of 8 Float32" in zero
    assert "here #2 ncclAllReduce(sum) of 8 Float32; rank 0 #2 ncclAllReduce(sum) of 4 Float32" in one


@pytest.mark.skipif(BLOCKING, reason="the call itself waits for the rank that does not come")
def test_a_rank_that_does_not_come_and_one_that_has_gone() -> None:
    begin = time.monotonic()

    def program(rank: int) -> str:
        dist.barrier()
        if rank == 1:
            time.sleep(0.3)  # rank 0 has passed the barrier, too
            dist.distributed_c10d._world.default_pg.abort()
            return "gone"
        work = dist.all_reduce(torch.ones(3, device="cuda"), async_op=True)
        try:
            work.wait(timedelta(seconds=30))
        except dist.DistBackendError as error:
            return str(error)
        return "no error"

    zero, one = play(program, size=2)
    assert one == "gone" and "all_reduce(SUM) of Float[3]" in zero and "rank 1" in zero and "has ended" in zero

    def never(rank: int) -> str:
        dist.barrier()
        if rank == 1:
            time.sleep(2)
            return "away"
        try:
            work: Any = dist.all_reduce(torch.ones(3, device="cuda"), async_op=True)
            with pytest.raises(dist.DistBackendError, match="caught collective operation timeout"):
                work.wait(timedelta(milliseconds=9))
            work.wait(timedelta(seconds=30))
        except dist.DistBackendError as error:
            return str(error)
        return "no error"

    zero, one = play(never, size=2, timeout=1)
    assert one == "away" and "Watchdog caught collective operation timeout: it ran for 1000 milliseconds" in zero
    assert time.monotonic() - begin < 30


def test_the_first_call_names_who_does_not_come() -> None:
    def program(rank: int) -> str:
        if rank == 1:
            return "away"
        try:
            dist.all_reduce(torch.ones(3, device="cuda"))
        except dist.DistBackendError as error:
            return str(error)
        return "no error"

    zero, one = good(play(program, size=2, timeout=0.3))
    assert one == "away" and "waited for 300 ms for the first operation on a device of the ranks 1" in zero


def test_the_group_is_chosen_by_the_device() -> None:
    def program(rank: int) -> tuple[Any, ...]:
        group: Any = dist.group.WORLD
        assert dist.get_backend() == "cpu:gloo,cuda:nccl" == dist.get_backend_config()
        assert isinstance(group._get_backend(torch.device("cpu")), dist.ProcessGroupGloo)
        assert isinstance(group._get_backend(torch.device("cuda")), dist.ProcessGroupNCCL)
        with pytest.raises(RuntimeError, match="No backend type associated with device type meta"):
            dist.all_reduce(torch.ones(2, device="meta"))
        dist.monitored_barrier(timeout=timedelta(seconds=30))
        objects: list[Any] = [None] * SIZE
        dist.all_gather_object(objects, {"rank": rank})
        pair: Any = dist.new_group([0, 1])
        here, there = torch.ones(2), torch.ones(2, device="cuda")
        if rank < 2:
            dist.all_reduce(here, group=pair)
            dist.all_reduce(there, group=pair)
        dist.barrier()
        return objects, here.tolist(), there.tolist()

    expected = [{"rank": rank} for rank in range(SIZE)]
    for rank, (objects, here, there) in enumerate(good(play(program, backend="cpu:gloo,cuda:nccl"))):
        assert objects == expected and here == there == ([2.0, 2.0] if rank < 2 else [1.0, 1.0])


def test_gloo_takes_tensors_of_devices_by_way_of_the_cpu() -> None:
    def program(rank: int) -> list[Any]:
        assert dist.get_backend() == "gloo" and dist.get_backend_config() == "cpu:gloo,cuda:gloo"
        columns = torch.arange(6.0, device="cuda").view(2, 3).t() * (rank + 1)  # not contiguous
        work: Any = dist.all_reduce(columns, async_op=True)
        work.wait()
        gathered = [torch.zeros(1, device="cuda") for _ in range(SIZE)]
        dist.all_gather(gathered, torch.full((1,), float(rank), device="cuda"))
        message = torch.full((2,), float(rank), device="cuda")
        if rank == 0:
            dist.send(message, 1)
        elif rank == 1:
            dist.recv(message, 0)
        with pytest.warns(UserWarning, match="Converting current value of 30.0 assuming it represents seconds"):
            dist.monitored_barrier(timeout=30.0)  # type: ignore[arg-type]
        assert {t.device.index for t in (columns, message, *gathered)} == {rank}
        return [columns.tolist(), torch.cat(gathered).tolist(), message.tolist()]

    sums = [[0.0, 18.0], [6.0, 24.0], [12.0, 30.0]]
    for rank, result in enumerate(good(play(program, backend="gloo"))):
        assert result == [sums, [0.0, 1.0, 2.0], [0.0 if rank < 2 else 2.0] * 2]


def test_objects_and_refusals_of_a_group_for_devices_alone() -> None:
    meeting = threading.Barrier(2)

    def program(rank: int) -> list[Any]:
        assert dist.get_backend() == "nccl" and dist.is_nccl_available()
        objects: list[Any] = [rank, "x"]
        dist.broadcast_object_list(objects, src=1)
        gathered: Any = [None] * 2 if rank == 0 else None
        dist.gather_object(("of", rank), gathered, dst=0)
        own: list[Any] = [None]
        dist.scatter_object_list(own, ["a", "b"] if rank == 0 else None, src=0)
        for call, kind, message in (
            (lambda: dist.all_reduce(torch.ones(2)), ValueError, "Tensors must be CUDA and dense"),
            (lambda: dist.all_reduce(torch.ones(2, 3, device="cuda").t()), ValueError, "Tensors must be contiguous"),
            (lambda: dist.all_reduce(torch.ones(2, device="cuda").int(), dist.ReduceOp.BXOR), ValueError,
             "Cannot use ReduceOp.BXOR with NCCL"),
            (lambda: dist.all_reduce(torch.ones(2, device="cuda").bool(), dist.ReduceOp.AVG), TypeError,
             "Cannot use ReduceOp.AVG with boolean inputs"),
            (lambda: dist.all_reduce(torch.ones(2, device="cuda").short()), TypeError, "not supported for NCCL"),
            (lambda: dist.irecv(torch.ones(2, device="cuda")), ValueError, "cannot receive from any rank"),
            (lambda: dist.isend(torch.ones(2, device="cuda"), 1 - rank, tag=3), ValueError, "have no tags"),
            (lambda: dist.monitored_barrier(), ValueError, "only implemented for GLOO backend"),
        ):  # fmt: skip
            with pytest.raises(kind, match=message):
                call()
        x = torch.ones(2, device="cuda")
        if rank == 0 and torch._C._cuda_is_simulated:
            captured = torch.cuda.graph(torch.cuda.CUDAGraph(), capture_error_mode="thread_local")
            with pytest.raises(dist.DistBackendError, match="NCCL cannot be part of a CUDA graph"), captured:
                dist.all_reduce(x * 2)
        meeting.wait(60)  # a capture begins with cudaFree, which waits for the work of all ranks in this process
        dist.all_reduce(x)  # the refusal has changed nothing
        assert x.tolist() == [2, 2]
        return [objects, gathered, own]

    assert good(play(program, size=2)) == [
        [[1, "x"], [("of", 0), ("of", 1)], ["a"]],
        [[1, "x"], None, ["b"]],
    ]


def test_one_device_for_two_ranks_is_refused() -> None:
    def program(rank: int) -> str:
        with pytest.raises(
            dist.DistBackendError, match=r"Duplicate GPU detected : rank . and rank . both on CUDA device 0"
        ):
            dist.all_reduce(torch.ones(2, device="cuda:0"))
        return "named"

    assert good(play(program, size=2)) == ["named"] * 2


def test_options_and_versions() -> None:
    options = dist.ProcessGroupNCCL.Options(is_high_priority_stream=True)
    options.config.min_ctas = 2
    assert options.is_high_priority_stream and options.config.min_ctas == 2
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1, pg_options=options, device_id=1)
    try:
        group: Any = dist.group.WORLD
        assert group.options.config.min_ctas == 2 and group.options._timeout == timedelta(minutes=10)
        dist.barrier()
        tensor = torch.ones(2, device="cuda:1")
        dist.all_reduce(tensor, dist.ReduceOp.AVG)
        assert tensor.tolist() == [1.0, 1.0]
        assert group.get_runtime_nccl_version()[0] == 2 and "ProcessGroupNCCL" in repr(group)
    finally:
        dist.destroy_process_group()
    assert dist.BackendConfig(dist.Backend("undefined")).get_device_backend_map() == {"cuda": "nccl"}


def test_a_group_is_divided_without_the_others() -> None:
    def program(rank: int) -> Any:
        dist.destroy_process_group()
        store = dist.PrefixStore("again", shared)
        dist.init_process_group("nccl", store=store, rank=rank, world_size=SIZE, device_id=rank)
        first: Any = dist.split_group(split_ranks=[[0, 2]])
        again: Any = dist.split_group(split_ranks=[[2, 0], [1]], group_desc="mine")
        found = []
        for part in (first, again):
            if part is not None:
                x = torch.full((2,), rank + 1.0, device=f"cuda:{rank}")
                dist.all_reduce(x, group=part)
                found.append((x.tolist(), dist.get_process_group_ranks(part), part.rank(), part.group_desc))
        inner = None if first is None else dist.split_group(first, [[1]])
        found.append(inner if inner is None else dist.get_process_group_ranks(inner))
        with pytest.raises(ValueError, match="cannot have duplicate ranks"):
            dist.split_group(split_ranks=[[0, 0]])
        with pytest.raises(ValueError, match="has ranks that the parent group of 3 lacks"):
            dist.split_group(split_ranks=[[3]])
        with pytest.raises(ValueError, match="Backend mismatch for device 'cpu'"):
            dist.split_group(split_ranks=[[0]], backend="gloo")
        return found

    shared = dist.HashStore()
    both = ([4.0, 4.0], [0, 2], 0, "default_pg:split:0")
    results = good(play(program))
    assert results[0] == [both, ([4.0, 4.0], [2, 0], 1, "mine"), None]
    assert results[1] == [([2.0, 2.0], [1], 0, "mine"), None]
    assert results[2] == [(*both[:2], 1, both[3]), ([4.0, 4.0], [2, 0], 0, "mine"), [2]]


def test_subgroups_are_as_large_as_the_machine_has_devices() -> None:
    def program(rank: int) -> Any:
        own, groups = dist.new_subgroups()
        with pytest.raises(RuntimeError, match="No device associated with the default pg"):
            dist.split_group(split_ranks=[[0]])
        return dist.get_process_group_ranks(own), len(groups)

    assert good(play(program)) == [([0, 1, 2], 1)] * SIZE
