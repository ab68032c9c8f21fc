"""Optimizers that run inside the backward of DistributedDataParallel.

Mirrors: torch/testing/_internal/distributed/distributed_test.py (``test_ddp_apply_optim_in_backward*``)
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.distributed.optim import _apply_optimizer_in_backward, _get_in_backward_optimizers
from reftorch.nn.parallel import DistributedDataParallel
from tests.nn.parallel.ddp_ranks import ranks

dist: Any = torch.distributed


@pytest.mark.parametrize("options", [{"bucket_cap_mb": 1e-5}, {"gradient_as_bucket_view": True}])
def test_optimizers_inside_backward_equal_a_step_after_it(options: dict[str, Any]) -> None:
    torch.manual_seed(0)
    start = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))

    @ranks()
    def program() -> None:
        nets = [copy.deepcopy(start) for _ in range(4)]
        settings: dict[str, Any] = {"lr": 0.1, "betas": (0.8, 0.9)}
        _apply_optimizer_in_backward(torch.optim.Adam, nets[1].parameters(), settings)
        models = [DistributedDataParallel(net, **options) for net in nets]
        _apply_optimizer_in_backward(torch.optim.Adam, [nets[2][2].weight], settings)  # before the first pass is enough
        models[3]._register_fused_optim(torch.optim.Adam, **settings)
        assert len(_get_in_backward_optimizers(nets[1])) == 4 and len(_get_in_backward_optimizers(nets[2])) == 1
        optimizers = [torch.optim.Adam(nets[0].parameters(), **settings)]
        optimizers.append(torch.optim.Adam([p for p in nets[2].parameters() if p is not nets[2][2].weight], **settings))
        for step in range(3):
            for each in (*optimizers, models[3]):
                each.zero_grad()
            inputs = torch.linspace(-1 - dist.get_rank(), 1 + step, 8).reshape(2, 4)
            for model in models:
                model(inputs).sum().backward()
            for optimizer in optimizers:
                optimizer.step()
            for net in nets[1:]:
                assert all(torch.allclose(a, b) for a, b in zip(net.parameters(), nets[0].parameters(), strict=True))
            assert all(p.grad is None for p in nets[1].parameters()) and nets[2][2].weight.grad is None
            assert all(p.grad is not None for p in nets[3].parameters()) and nets[2][2].bias.grad is not None

    program()


def test_a_parameter_that_is_ignored_runs_its_optimizer_by_itself() -> None:
    @ranks()
    def program() -> list[float]:
        net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
        for p in net.parameters():
            nn.init.ones_(p)
        DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(net, ["1.weight"])
        _apply_optimizer_in_backward(torch.optim.SGD, net.parameters(), {"lr": 1.0})
        model = DistributedDataParallel(net)
        model(torch.full((1, 1), 1.0 + 2 * dist.get_rank())).sum().backward()
        return [p.item() for p in net.parameters()]

    assert program() == [[-1.0, 0.0], [-1.0, -2.0]]
