"""What the ranks of test_mpi.py run under mpiexec: each collective of backend mpi, compared with gloo's.

Mirrors: test/distributed/test_c10d_spawn.py
"""

import sys
from datetime import timedelta
from typing import Any

import pytest

import reftorch as torch
import reftorch.distributed as dist

SIZE = 3
DTYPES = ("float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool")


def numbers(dtype: str, rank: int, count: int = 7) -> Any:
    """Small numbers whose sums and products are exact in every dtype."""
    values = [(3 * rank + 5 * i + rank * i) % 4 for i in range(count)]
    return torch.tensor(values, dtype=torch.int64).to(getattr(torch, dtype))


def reductions(dtype: str) -> list[str]:
    if dtype.startswith("float"):
        return ["SUM", "AVG", "PRODUCT", "MIN", "MAX"]
    return ["SUM", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"]


def collectives(group: Any, rank: int, dtype: str) -> list[Any]:
    """Return what every collective leaves on this rank."""
    own, found = numbers(dtype, rank), []
    zero, whole = torch.zeros_like(own), torch.cat([numbers(dtype, rank + i) for i in range(SIZE)])
    for name in reductions(dtype):
        op = getattr(dist.ReduceOp, name)
        everywhere, at_root, part, parts = own.clone(), own.clone(), zero.clone(), zero.clone()
        dist.all_reduce(everywhere, op, group)
        if name != "AVG":
            dist.reduce(at_root, 1, op, group)
        dist.reduce_scatter_tensor(part, whole, op, group)
        dist.reduce_scatter(parts, list(whole.chunk(SIZE)), op, group)
        found += [everywhere, at_root, part, parts]
    sent, gathered, together = own.clone(), [zero.clone() for _ in range(SIZE)], torch.zeros_like(whole)
    dist.broadcast(sent, 2, group)
    dist.all_gather(gathered, own, group)
    dist.all_gather_into_tensor(together, own, group)
    at_root = [zero.clone() for _ in range(SIZE)] if rank == 0 else None
    dist.gather(own, at_root, 0, group)
    part = zero.clone()
    dist.scatter(part, list(whole.chunk(SIZE)) if rank == 1 else None, 1, group)
    exchanged = [zero.clone() for _ in range(SIZE)]
    dist.all_to_all(exchanged, [own.roll(i) for i in range(SIZE)], group)
    sizes = [[1, 2, 4], [2, 0, 1], [3, 1, 2]]  # sizes[r][s]: what rank r sends rank s
    come = [sizes[r][rank] for r in range(SIZE)]
    uneven = torch.zeros(sum(come), 2, dtype=own.dtype)
    dist.all_to_all_single(uneven, torch.stack([own, own], 1)[: sum(sizes[rank])], come, sizes[rank], group)
    gaps = torch.zeros(14, dtype=own.dtype)
    gaps[::2] = own
    dist.all_reduce(gaps[::2], dist.ReduceOp.MAX, group)
    dist.barrier(group)
    return [t.double().tolist() for t in (*found, sent, *gathered, together, *(at_root or []), part, *exchanged,
                                         uneven, gaps)]  # fmt: skip


def messages(rank: int) -> None:
    """Tags, any source, a ring in which all send first, and a receive that stays open during a collective."""
    following, before = (rank + 1) % SIZE, (rank - 1) % SIZE
    late = torch.zeros(3)
    open_one = dist.irecv(late, before, tag=9)
    ring, large = torch.zeros(300_000), torch.full((300_000,), float(rank))
    works = dist.batch_isend_irecv([dist.P2POp(dist.isend, large, following), dist.P2POp(dist.irecv, ring, before)])
    for work in works:
        work.wait()
    assert ring.unique().tolist() == [float(before)]
    total = torch.ones(2)
    dist.all_reduce(total)
    dist.send(torch.full((3,), rank + 0.5), following, tag=9)
    assert open_one is not None
    open_one.wait()
    assert total.tolist() == [3.0, 3.0] and late.tolist() == [before + 0.5] * 3
    if rank == 0:
        senders = set()
        for _ in range(2):
            number = torch.zeros(1)
            senders.add(dist.recv(number))
            assert number.item() in (1.0, 2.0)
        assert senders == {1, 2}
    else:
        dist.send(torch.tensor([float(rank)]), 0)


def main() -> None:
    dist.init_process_group("mpi")
    rank, size = dist.get_rank(), dist.get_world_size()
    assert (size, dist.get_backend(), dist.get_backend_config()) == (SIZE, "mpi", "cpu:mpi")
    if "raise" in sys.argv:
        if rank == 1:
            raise ValueError("rank 1 does not want to")
        dist.barrier()
    if "late" in sys.argv:
        if rank != 1:
            pair = dist.new_group([0, 1, 2], timeout=timedelta(seconds=1))
            try:
                dist.barrier(pair)  # type: ignore[arg-type]
            except dist.DistBackendError as error:
                sys.stdout.write(f"{error}\n")
                sys.stdout.flush()
        else:
            dist.new_group([0, 1, 2])
        return
    gloo: Any = dist.new_group(backend="gloo")
    for dtype in DTYPES:
        ours, theirs = collectives(None, rank, dtype), collectives(gloo, rank, dtype) if dtype != "int16" else None
        assert theirs is None or ours == theirs, (dtype, ours, theirs)
    messages(rank)
    objects: list[Any] = [None] * SIZE
    dist.all_gather_object(objects, {"rank": rank})
    assert objects == [{"rank": r} for r in range(SIZE)]
    pair: Any = dist.new_group([0, 2])
    number = torch.tensor([float(rank)])
    if rank != 1:
        dist.all_reduce(number, group=pair)
        assert number.item() == 2.0
    with pytest.raises(RuntimeError, match=r"MPI has no numbers of type torch.float16"):
        dist.all_reduce(torch.ones(2).half())
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1, bias=False))
    model(torch.full((4, 2), rank + 1.0)).sum().backward()
    assert model.module.weight.grad.tolist() == [[8.0, 8.0]]
    dist.destroy_process_group()
    sys.stdout.write(f"rank {rank} of {size} is done\n")  # in one piece: the lines of two ranks must not mix
    sys.stdout.flush()


if __name__ == "__main__":
    main()
