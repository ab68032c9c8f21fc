"""Pipelines train as one process, in the order of their schedules.

Mirrors: test/distributed/pipelining/test_schedule.py

Torch's group of threads has no messages between two ranks, so its pipelines are not asked here.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe
from tests.distributed.ranks import world

dist: Any = torch.distributed
CPU = torch.device("cpu")
LAYERS = [nn.Sequential(nn.Linear(3 + i, 4 + i), nn.Tanh()) for i in range(3)]
NET = nn.Sequential(*LAYERS, nn.Linear(6, 3)).double()
X, Y = torch.arange(36).double().sin().reshape(12, 3), torch.arange(12) % 3


def part_of(net: Any, rank: int, size: int) -> Any:
    cuts = {1: [0, 4], 2: [0, 1, 4], 3: [0, 1, 2, 4]}[size]
    return net[cuts[rank] : cuts[rank + 1]]


@pytest.mark.parametrize("kind", [ScheduleGPipe, Schedule1F1B])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_stages_train_as_one_process(kind: Any, size: int) -> None:
    whole, expected = copy.deepcopy(NET), []
    optimizer = torch.optim.Adam(whole.parameters(), lr=0.05)
    for _ in range(3):
        optimizer.zero_grad()
        output = whole(X)
        loss = nn.functional.cross_entropy(output, Y)
        loss.backward()
        expected.append((loss.item(), output.detach()))
        optimizer.step()

    def program() -> Any:
        rank = dist.get_rank()
        mine = part_of(copy.deepcopy(NET), rank, size)
        stage = PipelineStage(mine, rank, size, CPU)
        schedule = kind(stage, 6, loss_fn=nn.functional.cross_entropy)
        optimizer, seen = torch.optim.Adam(mine.parameters(), lr=0.05), []
        for _ in range(3):
            losses: list[Any] = []
            optimizer.zero_grad()
            args, target = (X,) if stage.is_first else (), Y if stage.is_last else None
            output = schedule.step(*args, target=target, losses=losses)
            assert (output is None) != stage.is_last and len(losses) == (6 if stage.is_last else 0)
            seen.append((sum(losses) / 6, output))
            optimizer.step()
        return seen, [p.detach() for p in mine.parameters()], schedule.eval(*((X,) if stage.is_first else ()))

    results = world(torch, size, program)
    parameters = [p for _, each, _ in results for p in each]
    assert all(torch.allclose(a, b) for a, b in zip(parameters, whole.parameters(), strict=True))
    for (loss, output), (wanted, whole_output) in zip(results[-1][0], expected, strict=True):
        assert loss.item() == pytest.approx(wanted) and torch.allclose(output, whole_output)
    assert torch.allclose(results[-1][2], whole(X)) and not results[-1][2].requires_grad


def test_orders_of_the_schedules() -> None:
    def program() -> Any:
        stage = PipelineStage(nn.Identity(), dist.get_rank(), 2, CPU)
        return [
            "".join(f"{what}{i} " for what, i in kind(stage, 3).actions()) for kind in (ScheduleGPipe, Schedule1F1B)
        ]

    first, last = world(torch, 2, program)
    assert first[0] == last[0] == "F0 F1 F2 B0 B1 B2 "
    assert first[1] == "F0 F1 B0 F2 B1 B2 " and last[1] == "F0 B0 F1 B1 F2 B2 "


def test_several_tensors_integers_and_keywords() -> None:
    class Two(nn.Module):
        def forward(self, x: Any, y: Any, *, factor: Any) -> Any:
            return x * weight * factor, y

    class Sum(nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return (x * y).sum(1, keepdim=True), y + 1

    weight = torch.nn.Parameter(torch.tensor([2.0]))
    factor = torch.arange(4.0).reshape(4, 1)

    def program() -> Any:
        first = dist.get_rank() == 0
        stage = PipelineStage(Two() if first else Sum(), dist.get_rank(), 2, CPU)
        schedule = ScheduleGPipe(stage, 2, loss_fn=lambda output, target: (output[0] * target).sum(), scale_grads=False)
        if first:
            return schedule.step(torch.ones(4, 2), torch.arange(8).reshape(4, 2), factor=factor)
        return schedule.step(target=torch.ones(4, 1))

    none, (sums, integers) = world(torch, 2, program)
    assert none is None and integers.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert sums.flatten().tolist() == [0.0, 10.0, 36.0, 78.0]
    assert weight.grad.item() == 62.0  # the sum of all x * y * factor


def test_mistakes_are_named() -> None:
    def program() -> None:
        rank = dist.get_rank()
        with pytest.raises(ValueError, match=f"Stage {1 - rank} of 2 cannot be on rank {rank} of 2"):
            PipelineStage(nn.Identity(), 1 - rank, 2, CPU)
        with pytest.raises(NotImplementedError, match="dw_builder and get_mesh must be None"):
            PipelineStage(nn.Identity(), rank, 2, CPU, dw_builder=print)
        stage = PipelineStage(nn.Identity(), rank, 2, CPU)
        with pytest.raises(ValueError, match=r"Number of microbatches \(1\) must be greater .* stages \(2\)"):
            ScheduleGPipe(stage, 1)
        with pytest.raises(NotImplementedError, match="split along their first dimension only"):
            ScheduleGPipe(stage, 2, args_chunk_spec=())
        if rank == 0:
            with pytest.raises(RuntimeError, match=r"stage 0, part 1 of the batch.* Hint: the batch must be divisible"):
                ScheduleGPipe(stage, 2).step(torch.ones(3, 1))
        dist.barrier()  # rank 1 stays until rank 0 has sent

    world(torch, 2, program)
