"""An optimizer whose state is divided among ranks, against the same optimizer in one process.

Mirrors: test/distributed/optim/test_zero_redundancy_optimizer.py
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

import reftorch as torch
from reftorch.distributed.optim import ZeroRedundancyOptimizer
from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms

dist: Any = torch.distributed
CLASSES: dict[str, dict[str, Any]] = {
    "SGD": {"lr": 0.1, "momentum": 0.9},
    "Adam": {"lr": 0.01},
    "AdamW": {"lr": 0.01, "amsgrad": True},
    "Adagrad": {"lr": 0.1},
}


START = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2)).double()


def model() -> Any:
    """Return a copy, because the threads that play ranks draw from one generator."""
    return copy.deepcopy(START)


def train(net: Any, optimizer: Any, steps: int, first: int = 0) -> None:
    for step in range(first, first + steps):
        optimizer.zero_grad()
        x = torch.arange(12, dtype=torch.float64).add(step).sin().reshape(4, 3)
        net(x).square().sum().backward()
        optimizer.step()


def same_state(a: dict[str, Any], b: dict[str, Any]) -> None:
    assert a["param_groups"] == b["param_groups"] and list(a["state"]) == list(b["state"])
    for number, state in a["state"].items():
        assert list(state) == list(b["state"][number])
        assert all(torch.allclose(value, b["state"][number][key]) for key, value in state.items())


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_ranks_train_as_one_optimizer(name: str, size: int) -> None:
    kind, options = getattr(torch.optim, name), CLASSES[name]
    one = model()
    plain = kind(one.parameters(), **options)
    train(one, plain, 3)
    middle = copy.deepcopy(plain.state_dict())
    train(one, plain, 3, first=3)

    @spawn_threads_and_init_comms(timeout=30, world_size=size)
    def program() -> tuple[Any, Any, int]:
        net = copy.deepcopy(start)
        optimizer = ZeroRedundancyOptimizer(net.parameters(), kind, **options)
        train(net, optimizer, 3)
        elements = sum(p.numel() for p in optimizer.optim.state)
        optimizer.consolidate_state_dict(to=size - 1)
        state = None
        if dist.get_rank() == size - 1:
            state = copy.deepcopy(optimizer.state_dict())
        else:
            with pytest.raises(RuntimeError, match=r"consolidate_state_dict\(to=\d\)"):
                optimizer.state_dict()
        again = ZeroRedundancyOptimizer(net.parameters(), kind, **{**options, "lr": 7.0})
        again.load_state_dict(copy.deepcopy(middle))  # the state of one process
        assert again.param_groups[0]["lr"] == options["lr"]
        train(net, again, 3, first=3)
        return [p.detach() for p in net.parameters()], state, elements

    start = model()
    results = program()
    for params, _, _ in results:
        assert all(torch.allclose(a, b, 1e-10) for a, b in zip(params, one.parameters(), strict=True))
    same_state(results[-1][1], middle)
    counts = [elements for _, _, elements in results]
    assert sum(counts) == sum(p.numel() for p in one.parameters())  # each element has its state once
    assert max(counts) - min(counts) <= 15  # the largest parameter


def test_groups_and_schedulers() -> None:
    def run(make: Any) -> list[Any]:
        net = model()
        groups = [{"params": [net[0].weight], "lr": 0.5}, {"params": [net[0].bias]}]
        optimizer = make(groups)
        optimizer.add_param_group({"params": list(net[2].parameters()), "momentum": 0.5})
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.1)
        for step in range(4):
            train(net, optimizer, 1, first=step)
            scheduler.step()
        return [*(p.detach() for p in net.parameters()), *(torch.tensor(g["lr"]) for g in optimizer.param_groups)]

    @spawn_threads_and_init_comms(timeout=30, world_size=2)
    def program() -> list[Any]:
        return run(lambda groups: ZeroRedundancyOptimizer(groups, torch.optim.SGD, lr=0.1))

    expected = run(lambda groups: torch.optim.SGD(groups, lr=0.1))
    for result in program():
        assert all(torch.allclose(a, b) for a, b in zip(result, expected, strict=True))


def test_a_closure_and_what_is_left_out() -> None:
    @spawn_threads_and_init_comms(timeout=30, world_size=2)
    def program() -> float:
        net = model()
        optimizer = ZeroRedundancyOptimizer(net.parameters(), torch.optim.SGD, lr=0.1)

        def closure() -> Any:
            optimizer.zero_grad()
            loss = net(torch.ones(1, 3, dtype=torch.float64)).square().sum()
            loss.backward()
            return loss

        loss = optimizer.step(closure)
        assert closure() < loss
        with pytest.raises(NotImplementedError, match="overlap_with_ddp must be False"):
            ZeroRedundancyOptimizer(net.parameters(), torch.optim.SGD, overlap_with_ddp=True, lr=0.1)
        return loss.item()

    one, two = program()
    assert one == two
