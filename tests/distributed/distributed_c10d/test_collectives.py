"""Reductions, broadcasts and barriers on 2, 3 and 4 ranks, compared with torch's gloo.

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
from tests.distributed.ranks import good, play

SIZES = (2, 3, 4)
FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("uint8", "int8", "int32", "int64")
REDUCTIONS = [
    *((dtype, op) for dtype in FLOATS for op in ("SUM", "AVG", "PRODUCT", "MIN", "MAX")),
    *((dtype, op) for dtype in INTEGERS for op in ("SUM", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR")),
    *(("bool", op) for op in ("SUM", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR")),
]


def numbers(lib: Any, dtype: str, rank: int, count: int = 7) -> Any:
    """Small numbers whose sums and products are exact in every dtype, so that no order of sums shows."""
    values = [(3 * rank + 5 * i + rank * i) % 4 for i in range(count)]
    return lib.tensor(values, dtype=lib.int64).to(getattr(lib, dtype))


@pytest.mark.parametrize("size", SIZES)
def test_all_reduce_and_reduce(size: int, real_torch: ModuleType) -> None:
    def program(lib: Any) -> dict[str, Any]:
        def run(group: Any, rank: int) -> dict[str, Any]:
            found: dict[str, Any] = {}
            for dtype, op in REDUCTIONS:
                opts = lib.distributed.AllreduceOptions()
                opts.reduceOp = getattr(lib.distributed.ReduceOp, op)
                tensor = numbers(lib, dtype, rank)
                group.allreduce([tensor], opts).wait()
                found[f"all_reduce {dtype} {op}"] = tensor.double().tolist()
                if op != "AVG":
                    rooted = lib.distributed.ReduceOptions()
                    rooted.reduceOp, rooted.rootRank = opts.reduceOp, size - 1
                    tensor = numbers(lib, dtype, rank)
                    group.reduce([tensor], rooted).wait()
                    if rank == size - 1:
                        found[f"reduce {dtype} {op}"] = tensor.double().tolist()
            return found

        return {str(rank): result for rank, result in enumerate(good(play(lib, size, run)))}

    assert program(reftorch) == asked(real_torch, program)


@pytest.mark.parametrize("size", SIZES)
def test_shapes_and_asynchronous_calls(size: int, real_torch: ModuleType) -> None:
    def program(lib: Any) -> list[Any]:
        def run(group: Any, rank: int) -> list[Any]:
            tensors = [numbers(lib, "float32", rank, count) for count in (0, 1, 2, 1000, 70000)]
            tensors += [lib.tensor(float(rank)), numbers(lib, "int64", rank, 12).view(3, 4).t()]
            works = [group.allreduce([tensor]) for tensor in tensors]  # none waits for the one before
            for work in works:
                work.wait()
            opts = lib.distributed.BroadcastOptions()
            opts.rootRank = size - 1
            sent = numbers(lib, "int8", rank, 9)
            works.append(group.broadcast([sent], opts))
            works[-1].wait()
            assert all(work.is_completed() for work in works)
            return [
                [list(each.shape), each.double().sum().item(), each.reshape(-1)[:5].tolist()]
                for each in [*tensors, sent]
            ]

        return good(play(lib, size, run))

    assert program(reftorch) == asked(real_torch, program)


def test_a_view_with_gaps_is_reduced_in_place() -> None:
    """Torch's gloo takes the memory between the elements for the elements."""

    def run(group: Any, rank: int) -> list[float]:
        whole = reftorch.arange(8.0)
        group.allreduce([whole[::2]]).wait()
        return whole.tolist()

    assert good(play(reftorch, 2, run)) == [[0.0, 1.0, 4.0, 3.0, 8.0, 5.0, 12.0, 7.0]] * 2


def test_what_cannot_be_reduced_is_refused_at_once(real_torch: ModuleType) -> None:
    def program(lib: Any) -> list[str]:
        def run(group: Any, rank: int) -> list[str]:
            found = []
            for dtype, op in (("float32", "BAND"), ("bfloat16", "BXOR"), ("int32", "AVG")):
                opts = lib.distributed.AllreduceOptions()
                opts.reduceOp = getattr(lib.distributed.ReduceOp, op)
                try:
                    group.allreduce([numbers(lib, dtype, rank)], opts).wait()
                except RuntimeError as error:
                    found.append(str(error).split(". Hint")[0].split("\n")[0])
            return found

        return good(play(lib, 2, run))

    assert program(reftorch) == asked(real_torch, program)


def test_the_functions_use_the_default_group_or_another() -> None:
    @spawn_threads_and_init_comms(world_size=4)
    def program() -> tuple[Any, ...]:
        rank = dist.get_rank()
        pair = dist.new_group([1, 3])
        tensor = reftorch.tensor([1.0 + rank])
        dist.all_reduce(tensor)
        in_pair = reftorch.tensor([1.0 + rank])
        if rank in (1, 3):
            dist.broadcast(in_pair, src=3, group=pair)
            assert dist.get_global_rank(pair, 1) == 3 and dist.get_group_rank(pair, 3) == 1  # type: ignore[arg-type]
        reduced = reftorch.tensor([1.0 + rank])
        dist.reduce(reduced, dst=2, op=dist.ReduceOp.MAX)
        work = dist.barrier(async_op=True)
        assert work is not None and work.wait() and dist.barrier() is None
        return tensor.item(), in_pair.item(), reduced.item()

    assert program() == [(10.0, 1.0, 1.0), (10.0, 4.0, 2.0), (10.0, 3.0, 4.0), (10.0, 4.0, 4.0)]


def test_a_process_outside_the_group_is_warned_and_passes() -> None:
    @spawn_threads_and_init_comms(world_size=2)
    def program() -> float:
        group = dist.new_group([0])
        tensor = reftorch.tensor([1.0])
        dist.all_reduce(tensor, group=group)  # type: ignore[arg-type]
        return tensor.item()

    with pytest.warns(
        UserWarning, match="Running all_reduce on global rank 1 which does not belong to the given group"
    ):
        assert program() == [1.0, 1.0]


def test_arguments_are_checked() -> None:
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        with pytest.raises(TypeError, match=r"Expected parameter `tensor` of type torch.Tensor but got <class 'int'>"):
            dist.all_reduce(3)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="Must specify global_rank or group_rank"):
            dist.broadcast(reftorch.ones(1))
        with pytest.raises(ValueError, match="Global rank 5 is not part of group"):
            dist.broadcast(reftorch.ones(1), src=5)
        with pytest.raises(TypeError, match=r"Expected timeout argument to be of type datetime.timedelta, got 3"):
            dist.barrier(timeout=3)  # type: ignore[arg-type]
        with pytest.raises(RuntimeError, match=r"expected a tensor on the CPU, .* but got one on meta"):
            dist.all_reduce(reftorch.ones(2, device="meta"))
    finally:
        dist.destroy_process_group()


def test_a_future_of_a_work_runs_its_callbacks() -> None:
    @spawn_threads_and_init_comms(world_size=2)
    def program() -> float:
        tensor = reftorch.tensor([1.0 + dist.get_rank()])
        work = dist.all_reduce(tensor, async_op=True)
        assert work is not None
        halved = work.get_future().then(lambda future: future.value()[0] / 2)
        return halved.wait().item()

    assert program() == [1.5, 1.5]


def test_the_future_of_a_failed_work_has_its_exception() -> None:
    def run(group: Any, rank: int) -> str:
        work = group.allreduce([reftorch.ones(2 + rank)])
        try:
            work.get_future().wait()
        except dist.DistBackendError as error:
            assert isinstance(work.exception(), dist.DistBackendError) and not work.is_success()
            return str(error)
        return ""

    first, second = good(play(reftorch, 2, run))
    assert "here #1 all_reduce(SUM) of Float[2]" in first and "rank 0 #1 all_reduce(SUM) of Float[2]" in second


@pytest.mark.parametrize("wait_all_ranks", [False, True])
def test_a_monitored_barrier_names_who_is_missing(wait_all_ranks: bool) -> None:
    def run(group: Any, rank: int) -> str:
        group.monitored_barrier(timedelta(seconds=30))  # all come
        if rank in (1, 3):
            return "away"
        try:
            group.monitored_barrier(timedelta(milliseconds=200), wait_all_ranks)
        except dist.DistBackendError as error:
            return str(error)
        return "passed"

    zero, one, two, _ = good(play(reftorch, 4, run))
    missing = "Ranks 1, 3" if wait_all_ranks else "Rank 1"
    assert zero == f"[Rank 0]: {missing} failed to pass monitoredBarrier in 200 ms"
    assert one == "away" and "Rank 2 successfully reached monitoredBarrier" in two


def test_a_monitored_barrier_without_time_blames_nobody() -> None:
    def run(group: Any, rank: int) -> str:
        try:
            group.monitored_barrier(timedelta(0))
        except dist.DistBackendError as error:
            return str(error)
        return "passed"

    zero, one = good(play(reftorch, 2, run))
    assert zero == (
        "[Rank 0]: Rank 0 timed out in monitoredBarrier after 0 ms. No ranks successfully processed in "
        "monitoredBarrier."
    )
    assert "Rank 1 successfully reached monitoredBarrier, but received errors" in one
