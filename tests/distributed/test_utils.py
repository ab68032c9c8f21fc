"""The same parameters and buffers on all ranks.

Mirrors: torch/testing/_internal/distributed/distributed_test.py (``test_ddp_sync_module_states``)
"""

from __future__ import annotations

from typing import Any

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.distributed._logger import Logger
from reftorch.distributed.utils import _sync_module_states, _verify_param_shape_across_processes
from reftorch.nn.parallel import DistributedDataParallel
from tests.nn.parallel.ddp_ranks import ranks

dist: Any = torch.distributed


@pytest.mark.parametrize("broadcast_buffers", [True, False])
def test_all_ranks_get_the_states_of_one(broadcast_buffers: bool) -> None:
    @ranks(3)
    def program() -> list[float]:
        net = nn.BatchNorm1d(1)
        with torch.no_grad():
            for tensor in (net.weight, net.bias, net.running_mean):
                tensor.fill_(float(dist.get_rank()))
        _sync_module_states(net, dist.group.WORLD, 100, 1, {"bias"}, broadcast_buffers)
        return [net.weight.item(), net.bias.item(), net.running_mean.item()]

    assert program() == [[1.0, float(rank), 1.0 if broadcast_buffers else float(rank)] for rank in range(3)]


def test_parameters_that_differ_are_named_and_noted() -> None:
    @ranks()
    def program() -> str:
        model = DistributedDataParallel(nn.Linear(1, 1))
        same, other = [torch.ones(2), torch.ones(3)], [torch.ones(2), torch.ones(3 + dist.get_rank())]
        _verify_param_shape_across_processes(dist.group.WORLD, same)
        logger: Logger = model.logger
        with pytest.raises(RuntimeError) as error:
            _verify_param_shape_across_processes(dist.group.WORLD, other, logger)
        assert model._get_ddp_logging_data()["error"] == str(error.value)
        return str(error.value)

    assert all("the sizes of params[1] of Rank 1" in message for message in program())


def test_a_process_outside_of_a_group() -> None:
    @ranks()
    def program() -> list[bool]:
        group = dist.new_group([1])
        return [dist._rank_not_in_group(each) for each in (None, dist.group.WORLD, group)]

    assert program() == [[False, False, True], [False, False, False]]
