"""Uneven inputs: ranks that have no more inputs take part in the collectives of the others.

Mirrors: test/distributed/algorithms/test_join.py
"""

from __future__ import annotations

from typing import Any

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import PowerSGDState, powerSGD_hook
from reftorch.distributed.algorithms.join import Join, Joinable, JoinHook
from reftorch.nn.parallel import DistributedDataParallel
from tests.nn.parallel.ddp_ranks import near, ranks

dist: Any = torch.distributed


@pytest.mark.parametrize("options", [{}, {"find_unused_parameters": True}, {"gradient_as_bucket_view": True}])
@pytest.mark.parametrize("by_all", [True, False])
@pytest.mark.filterwarnings("ignore:find_unused_parameters=True was specified")
def test_ranks_with_fewer_inputs_join(by_all: bool, options: dict[str, Any]) -> None:
    """Rank 0 has 2 inputs, rank 1 has 5. The gradients of rank 1 alone are divided by 2, or by 1."""
    counts, rate = (2, 5), 0.1

    @ranks()
    def program() -> tuple[list[float], float]:
        rank = dist.get_rank()
        net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1)).double()
        for p in net.parameters():
            nn.init.constant_(p, 0.5)
        model = DistributedDataParallel(net, bucket_cap_mb=1e-5, **options)
        optimizer = torch.optim.SGD(net.parameters(), lr=rate)
        with model.join(divide_by_initial_world_size=by_all):
            for step in range(counts[rank]):
                optimizer.zero_grad()
                model(torch.arange(6, dtype=torch.float64).reshape(3, 2) * (step + 1 + rank)).sum().backward()
                optimizer.step()
        return torch.cat([p.detach().reshape(-1) for p in net.parameters()]).tolist(), net[1].running_mean.sum().item()

    def expected() -> list[float]:
        net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1)).double()
        for p in net.parameters():
            nn.init.constant_(p, 0.5)
        for step in range(max(counts)):
            sums: list[Any] = [0] * len(list(net.parameters()))
            here = [rank for rank in (0, 1) if step < counts[rank]]
            for rank in here:
                net.zero_grad()
                net(torch.arange(6, dtype=torch.float64).reshape(3, 2) * (step + 1 + rank)).sum().backward()
                sums = [s + p.grad for s, p in zip(sums, net.parameters(), strict=True) if p.grad is not None]
            with torch.no_grad():
                for p, s in zip(net.parameters(), sums, strict=True):
                    p -= rate * s / (2 if by_all else len(here))
        return torch.cat([p.detach().reshape(-1) for p in net.parameters()]).tolist()

    (first, mean), (second, other_mean) = program()
    assert first == second and mean == other_mean
    near(first, expected())


def test_all_ranks_may_stop_with_the_first() -> None:
    @ranks()
    def program() -> tuple[str, int]:
        steps = 0
        model = DistributedDataParallel(nn.Linear(1, 1))

        def train() -> None:
            nonlocal steps
            with model.join(throw_on_early_termination=True):
                for _ in range(2 + 2 * dist.get_rank()):
                    model(torch.ones(1, 1)).sum().backward()
                    steps += 1

        with pytest.raises(RuntimeError) as error:
            train()
        return str(error.value), steps

    message = "Detected at least one rank that exhausted inputs. Throwing across all ranks."
    assert program() == [("Rank 0 exhausted all inputs.", 2), (message, 2)]


def test_no_sync_in_join() -> None:
    """A rank without input takes part in a pass that reduces nothing."""

    @ranks()
    def program() -> list[float]:
        net = nn.Linear(1, 1, bias=False)
        nn.init.ones_(net.weight)
        model = DistributedDataParallel(net)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
        with model.join():
            for _ in range(1 + dist.get_rank()):
                optimizer.zero_grad()
                with model.no_sync():
                    model(torch.ones(1, 1)).sum().backward()
                model(torch.ones(1, 1)).sum().backward()
                optimizer.step()
        return net.weight.tolist()

    # The first steps of both ranks subtract 0.5 * 2, the second one of rank 1 is divided by 2.
    assert program() == [[[-0.5]], [[-0.5]]]


def test_a_rank_without_input_has_zeros_for_each_gradient() -> None:
    """PowerSGD multiplies each gradient of a bucket by itself: a rank that saw none would call other collectives."""

    @ranks()
    def program() -> tuple[list[float], Any]:
        net = nn.Linear(4, 4, bias=False)
        model = DistributedDataParallel(net)
        state = PowerSGDState(None, 1, 1, use_error_feedback=False, warm_start=False)
        model.register_comm_hook(state, powerSGD_hook)
        with model.join():
            for _ in range(2 * dist.get_rank()):
                model(torch.ones(1, 4)).sum().backward()
                with torch.no_grad():
                    net.weight.sub_(net.weight.grad)
                net.zero_grad()
        return net.weight.reshape(-1).tolist(), model._authoritative_rank

    one, two = program()
    assert one == two and one[1] == 1


def test_join_without_effect_and_its_errors() -> None:
    class Counts(Joinable):
        def __init__(self, group: Any) -> None:
            super().__init__()
            self.group, self.seen = group, []

        def join_hook(self, **kwargs: Any) -> JoinHook:
            counter = self

            class Hook(JoinHook):
                def main_hook(self) -> None:
                    counter.seen.append("main")

                def post_hook(self, is_last_joiner: bool) -> None:
                    counter.seen.append(is_last_joiner)

            return Hook()

        @property
        def join_device(self) -> Any:
            return torch.device("cpu")

        @property
        def join_process_group(self) -> Any:
            return self.group

    @ranks()
    def program() -> list[Any]:
        world, rank = dist.group.WORLD, dist.get_rank()
        with pytest.raises(ValueError, match="requires at least one joinable"):
            Join([])
        with pytest.raises(ValueError, match="multiple process groups"):
            Join([Counts(world), Counts(dist.new_group([0, 1]))])
        counts = Counts(world)
        with Join([counts], enable=False):
            assert Join.notify_join_context(counts) is None
        with Join([counts]):
            for _ in range(1 + rank):
                work, number = Join.notify_join_context(counts)
                work.wait()
        with pytest.raises(ZeroDivisionError), Join([counts]):
            raise ZeroDivisionError
        return [*counts.seen, number.item()]

    assert program() == [["main", False, 2.0], [True, 1.0]]
    with pytest.raises(AssertionError, match="calls the ``Joinable`` constructor"):
        Join.notify_join_context(object())  # type: ignore[arg-type]
