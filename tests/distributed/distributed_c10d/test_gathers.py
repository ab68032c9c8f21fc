"""Collectives of one tensor for each rank on 2, 3 and 4 ranks, compared with torch's gloo.

Mirrors: test/distributed/test_c10d_gloo.py
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch
import reftorch.distributed as dist
from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
from tests.answers.watched import asked
from tests.distributed.distributed_c10d.test_collectives import FLOATS, INTEGERS, SIZES, numbers
from tests.distributed.ranks import good, play

DTYPES = (*FLOATS, *INTEGERS, "bool")


def lists(tensors: list[Any]) -> list[Any]:
    return [tensor.double().tolist() for tensor in tensors]


@pytest.mark.parametrize("size", SIZES)
def test_every_collective_of_every_dtype(size: int, real_torch: ModuleType) -> None:
    def program(lib: Any) -> dict[str, Any]:
        distributed = lib.distributed

        def run(group: Any, rank: int) -> dict[str, Any]:
            found: dict[str, Any] = {}
            for dtype in DTYPES:
                root = size - 1
                own, parts = numbers(lib, dtype, rank), [numbers(lib, dtype, rank + r) for r in range(size)]
                empty = (
                    [numbers(lib, dtype, 0) * 0 for _ in range(size)]
                    if dtype != "bool"
                    else [numbers(lib, dtype, 0) for _ in range(size)]
                )
                group.allgather([empty], [own]).wait()
                found[f"all_gather {dtype}"] = lists(empty)
                opts = distributed.GatherOptions()
                opts.rootRank = root
                gathered = [tensor.clone() for tensor in parts] if rank == root else []
                group.gather([gathered] if rank == root else [], [own], opts).wait()
                found[f"gather {dtype}"] = lists(gathered)
                opts = distributed.ScatterOptions()
                opts.rootRank = root
                received = own.clone()
                group.scatter([received], [parts] if rank == root else [], opts).wait()
                found[f"scatter {dtype}"] = lists([received])
                output, both = lib.cat([own] * size), lib.cat(parts)
                group.alltoall_base(output, both, [], []).wait()
                found[f"all_to_all {dtype}"] = lists([output])
                whole = lib.cat([own] * size)
                group._allgather_base(whole, own).wait()
                found[f"all_gather_into_tensor {dtype}"] = lists([whole])
                if dtype in ("float32", "int64"):
                    summed = own.clone()
                    group._reduce_scatter_base(summed, both).wait()
                    found[f"reduce_scatter_tensor {dtype}"] = lists([summed])
            return found

        return {str(rank): result for rank, result in enumerate(good(play(lib, size, run)))}

    assert program(reftorch) == asked(real_torch, program)


@pytest.mark.parametrize("size", SIZES)
def test_rows_are_split_as_the_ranks_say(size: int, real_torch: ModuleType) -> None:
    def program(lib: Any) -> list[Any]:
        def run(group: Any, rank: int) -> list[Any]:
            sent = [(rank + r) % 3 for r in range(size)]  # rows from this rank to rank r; 0 for some
            got = [(r + rank) % 3 for r in range(size)]
            rows = lib.arange(2.0 * sum(sent)).reshape(-1, 2) + 100 * rank
            output = lib.zeros(sum(got), 2)
            group.alltoall_base(output, rows, got, sent).wait()
            return output.tolist()

        return good(play(lib, size, run))

    assert program(reftorch) == asked(real_torch, program)


def test_the_functions() -> None:
    @spawn_threads_and_init_comms(world_size=3)
    def program() -> list[Any]:
        rank, said = dist.get_rank(), []
        gathered = [reftorch.zeros(1) for _ in range(3)] if rank == 2 else None
        dist.gather(reftorch.tensor([1.0 + rank]), gathered, dst=2)
        said.append(gathered and [tensor.item() for tensor in gathered])
        one = reftorch.zeros(1)
        dist.scatter(one, [reftorch.tensor([10.0 * r]) for r in range(3)] if rank == 0 else None)
        said.append(one.item())
        outputs = [reftorch.zeros(r + 1) for r in range(3)]  # rank r sends r + 1 elements to each
        dist.all_to_all(outputs, [reftorch.full((rank + 1,), float(rank)) for _ in range(3)])
        said.append([tensor.tolist() for tensor in outputs])
        total = reftorch.zeros(2)
        dist.reduce_scatter_tensor(total, reftorch.arange(6.0) * (rank + 1), op=dist.ReduceOp.AVG)
        said.append(total.tolist())
        return said

    zero, one, two = program()
    assert [zero[0], one[0], two[0]] == [None, None, [1.0, 2.0, 3.0]]
    assert [zero[1], one[1], two[1]] == [0.0, 10.0, 20.0]
    assert zero[2] == [[0.0], [1.0, 1.0], [2.0, 2.0, 2.0]] == two[2]
    assert [zero[3], one[3], two[3]] == [[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]]


def test_sizes_that_do_not_fit_are_refused() -> None:
    dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
    ones = reftorch.ones
    try:
        with pytest.raises(
            ValueError, match=r"all_gather: invalid tensor type or size at index 0: expected Float\[2\]"
        ):
            dist.all_gather([ones(3)], ones(2))
        with pytest.raises(ValueError, match="expected a list of 1 tensors, one for each rank, but got 2"):
            dist.all_gather([ones(2), ones(2)], ones(2))
        with pytest.raises(ValueError, match=r"different dtypes: Found torch.float32 and torch.int64"):
            dist.all_gather([ones(2)], ones(2, dtype=reftorch.int64))
        with pytest.raises(TypeError, match=r"Expected parameter `tensor_list` of type List\[torch.Tensor\]"):
            dist.all_gather(ones(2), ones(2))  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"expected 3 \* 1 elements, but got 2"):
            dist.all_gather_into_tensor(ones(2), ones(3))
        with pytest.raises(TypeError, match="output tensor must have the same type as input tensor"):
            dist.all_gather_into_tensor(ones(2), ones(2, dtype=reftorch.int64))
        with pytest.raises(ValueError, match="``gather_list`` must be specified on destination rank"):
            dist.gather(ones(2))
        with pytest.raises(ValueError, match="Split sizes doesn't match total dim 0 size"):
            dist.all_to_all_single(ones(2), ones(2), [3], [2])
    finally:
        dist.destroy_process_group()


def test_split_sizes_that_disagree_are_named_on_both_ranks() -> None:
    def run(group: Any, rank: int) -> str:
        sent = [1, 3] if rank == 0 else [2, 1]
        got = [1, 2] if rank == 0 else [2, 1]  # rank 1 expects 2 rows of rank 0, which sends 3
        work = group.alltoall_base(reftorch.zeros(sum(got)), reftorch.ones(sum(sent)), got, sent)
        with pytest.raises(dist.DistBackendError) as error:
            work.wait()
        return str(error.value)

    zero, one = good(play(reftorch, 2, run))
    assert "rank 0 sends 3 elements to rank 1, which expects 2" in one
    assert "The first report: [rank 1]" in zero and "which expects 2" in zero


def test_objects_go_to_all() -> None:
    @spawn_threads_and_init_comms(world_size=3)
    def program() -> list[Any]:
        rank = dist.get_rank()
        everyone: list[Any] = [None] * 3
        dist.all_gather_object(everyone, ["x" * rank, rank])
        gathered: list[Any] | None = [None] * 3 if rank == 1 else None
        dist.gather_object({rank}, gathered, dst=1)
        shared = [rank, "long" * 100] if rank == 2 else [None, None]
        dist.broadcast_object_list(shared, src=2)
        own: list[Any] = [None]
        dist.scatter_object_list(own, ["a", 1, None] if rank == 0 else None)
        if rank == 0:
            dist.send_object_list([1, "two"], dst=1)
        received: list[Any] = [None, None]
        source = dist.recv_object_list(received) if rank == 1 else -1
        return [everyone, gathered, shared, own, received, source]

    zero, one, two = program()
    assert zero[0] == one[0] == two[0] == [["", 0], ["x", 1], ["xx", 2]]
    assert [zero[1], one[1], two[1]] == [None, [{0}, {1}, {2}], None]
    assert zero[2] == one[2] == [2, "long" * 100]
    assert [zero[3], one[3], two[3]] == [["a"], [1], [None]]
    assert one[4:] == [[1, "two"], 0]
