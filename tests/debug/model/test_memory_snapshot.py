"""The living tensors are listed with their names, by the memory that they share.

Mirrors: test/test_cuda.py (``test_memory_snapshot``)
"""

import gc
from typing import Any

import reftorch as torch
from reftorch.debug import memory_snapshot
from reftorch.debug.model.memory_snapshot import MemorySnapshot, StorageInfo

SIZE = 4097  # one that no other test's tensor has: 16388 bytes


def ours(snapshot: MemorySnapshot) -> list[StorageInfo]:
    """The storages of this test, in the order of names."""
    return sorted((s for s in snapshot.storages if s.nbytes == 4 * SIZE), key=lambda s: s.label)


def names(storage: StorageInfo) -> list[str]:
    return [tensor.name for tensor in storage.tensors if not tensor.saved_by]


def test_names_and_sharing() -> None:
    x = torch.ones(SIZE)
    head = x[:5]
    others = {"y": [torch.ones(SIZE)]}
    found = ours(memory_snapshot())
    assert [names(storage) for storage in found] == [["others/y/0"], ["x", "head"]]
    assert found[1].sharers == 2 and found[1].tensors[1].shape == "[5]"
    assert others["y"][0].numel() == head.numel() + SIZE - 5


def test_models_and_optimizers() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(SIZE, 1, bias=False))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    net(torch.ones(1, SIZE)).sum().backward()
    optimizer.step()
    found = [storage.label for storage in ours(memory_snapshot())]
    assert found == ["net.0.weight", "net.0.weight.grad", "optimizer.state/0/momentum_buffer"]


def test_what_a_graph_keeps() -> None:
    x = torch.ones(SIZE, requires_grad=True)
    y = x.exp().sin().sum()
    saved = [t.saved_by for s in ours(memory_snapshot()) for t in s.tensors if t.saved_by]
    assert sorted(saved) == ["ExpBackward0 as result", "SinBackward0 as self"]
    assert not [t for s in ours(memory_snapshot(graph=False)) for t in s.tensors if t.saved_by]
    y.backward()
    del y
    assert [s.label for s in ours(memory_snapshot())] == ["x", "x.grad"]


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return 2 * grad * ctx.saved_tensors[0]


def test_what_a_function_of_ones_own_keeps() -> None:
    x = torch.ones(SIZE, requires_grad=True)
    y = Square.apply(x * 1)
    saved = [t.saved_by for s in ours(memory_snapshot()) for t in s.tensors if t.saved_by]
    assert saved == ["SquareBackward as saved_tensors[0]"] and y.numel() == SIZE


def test_the_difference_of_two_snapshots() -> None:
    gone = torch.ones(SIZE)
    stays = torch.ones(SIZE)
    before = memory_snapshot()
    del gone
    came = torch.ones(SIZE)  # at the address of the one that is gone: the allocator gives it again
    more = torch.ones(SIZE)
    change = memory_snapshot().diff(before)
    assert sorted(s.label for s in change.new if s.nbytes == 4 * SIZE) == ["came", "more"]
    assert [s.label for s in change.freed if s.nbytes == 4 * SIZE] == ["gone"]
    assert change.nbytes == 4 * SIZE and change.stats["allocated_bytes"] >= 4 * SIZE
    assert "memory: 2 storages new, 1 freed, +16.0 KiB" in str(change)
    assert stays.numel() == came.numel() == more.numel()


def test_the_counters_are_the_allocator_s() -> None:
    gc.collect()
    x = torch.ones(SIZE)
    snapshot = memory_snapshot()
    assert snapshot.stats == torch._C._cpu_memory_stats() and x.numel() == SIZE
    assert snapshot.nbytes == sum(s.nbytes for s in snapshot.storages)


def test_containers_that_contain_themselves() -> None:
    x = torch.ones(SIZE)
    loop: list = [x]
    loop.append(loop)
    assert [names(s) for s in ours(memory_snapshot())] == [["x"]] and len(loop) == 2


def test_the_table() -> None:
    x = torch.ones(SIZE * 100)
    y = x.view(100, -1)
    lines = str(memory_snapshot()).splitlines()
    assert lines[0].startswith("memory: ") and "allocator: " in lines[0]
    (row,) = [i for i, line in enumerate(lines) if line.split()[2:3] == ["x"]]
    assert lines[row].startswith("1.6 MiB") and lines[row + 1].split() == [
        "y",
        "[100,",
        "4097]",
        "float32",
        "shares",
        "it",
    ]
    assert y.shape[0] == 100


def test_the_later_snapshot_is_the_later_whichever_is_asked() -> None:
    before = memory_snapshot()
    kept = torch.ones(SIZE, requires_grad=True).exp()
    after = memory_snapshot()
    for diff in (after.diff(before), before.diff(after)):
        assert any(s.label == "kept" for s in diff.new) and diff.nbytes == 2 * 4 * SIZE
    assert kept.grad_fn is not None


def test_what_a_graph_keeps_is_told_as_new() -> None:
    x = torch.ones(SIZE, requires_grad=True)
    before = memory_snapshot()
    loss = (x + 1).exp().sum()
    (row,) = [line for line in str(memory_snapshot().diff(before)).splitlines() if line.split()[:2] == ["new", "16.0"]]
    assert row.split() == ["new", "16.0", "KiB", f"[{SIZE}]", "float32", "saved", "by", "ExpBackward0", "as", "result"]
    assert loss.requires_grad


def test_a_tensor_on_meta_has_no_memory() -> None:
    ghost = torch.ones(SIZE, device="meta", requires_grad=True)
    kept = (ghost * 2).exp()
    lazy = torch.nn.LazyLinear(3)
    assert ours(memory_snapshot()) == [] and kept.shape == ghost.shape and lazy.out_features == 3


class Unconnected:
    """A proxy that raises whatever is asked of it."""

    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("not connected")


class Closed(dict):  # type: ignore[type-arg]
    def keys(self) -> Any:
        raise ValueError("closed")

    def __iter__(self) -> Any:
        raise ValueError("closed")


def test_objects_of_others_among_the_variables_do_no_harm() -> None:
    x = torch.ones(SIZE)
    foreign = [Unconnected(), Closed(a=1), {"a": Unconnected()}]
    (proxy, closed, inside) = foreign
    assert [names(s) for s in ours(memory_snapshot())] == [["x"]]
    assert len(closed) == len(inside) == 1 and proxy is foreign[0] and x.numel() == SIZE
