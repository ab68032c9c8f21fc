"""Passes of DistributedDataParallel in 16 bits.

Mirrors: torch/testing/_internal/distributed/distributed_test.py (``test_ddp_native_mixed_precision_*``)
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.nn.parallel import DistributedDataParallel
from reftorch.nn.parallel.distributed import _MixedPrecision
from tests.nn.parallel.ddp_ranks import Branch, ranks

dist: Any = torch.distributed


@pytest.mark.parametrize("options", [{}, {"gradient_as_bucket_view": True, "bucket_cap_mb": 1e-5}, {"static_graph": 1}])
def test_mixed_precision_equals_copies_in_16_bits(options: dict[str, Any]) -> None:
    """The gradients are those of a copy of the model in bfloat16, added over the ranks in float32."""
    torch.manual_seed(0)
    start = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))
    start[0].weight.requires_grad_(False)

    @ranks()
    def program() -> Any:
        rank, net = dist.get_rank(), copy.deepcopy(start)
        net.register_buffer("shift", torch.zeros(1))
        net.register_buffer("count", torch.zeros(1, dtype=torch.int64))
        config = _MixedPrecision(torch.bfloat16, torch.float32, torch.float16)
        model = DistributedDataParallel(net, mixed_precision=config, **options)
        optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
        assert (net.shift.dtype, net.count.dtype) == (torch.float16, torch.int64)
        for step in range(3):
            half = copy.deepcopy(nn.Sequential(*net)).bfloat16()
            inputs = torch.linspace(-1 - rank, 1 + step, 8).reshape(2, 4)
            with torch.no_grad():
                assert torch.equal(model(inputs), half(inputs.bfloat16()))
            assert net[2].weight.dtype == torch.float32  # no backward will give it back
            output = model(inputs)
            assert output.dtype == net[0].weight.dtype == torch.bfloat16
            output.sum().backward()
            half(inputs.bfloat16()).sum().backward()
            for p, q in zip(net.parameters(), half.parameters(), strict=True):
                assert p.dtype == torch.float32 and p._mp_param.dtype == torch.bfloat16
                if q.grad is not None:
                    expected = q.grad.float()
                    dist.all_reduce(expected)
                    assert p.grad.dtype == torch.float32 and torch.equal(p.grad, expected / 2), step
            optimizer.step()
            optimizer.zero_grad(set_to_none=step == 0)
        return [p.tolist() for p in net.parameters()]

    first, second = program()
    assert first == second


@pytest.mark.filterwarnings("ignore:find_unused_parameters=True was specified")
def test_mixed_precision_without_sync_and_with_unused_parameters() -> None:
    @ranks()
    def program() -> list[Any]:
        net = Branch()
        nn.init.ones_(net.used.weight)
        config = _MixedPrecision(torch.float16)
        model = DistributedDataParallel(net, find_unused_parameters=True, mixed_precision=config)
        inputs = torch.full((1, 2), 1.0 + 2 * dist.get_rank())
        with model.no_sync():
            model(inputs).sum().backward()
        alone = net.used.weight.grad[0, 0].item()
        assert net.used.weight.dtype == net.used.weight.grad.dtype == torch.float32
        model(inputs).sum().backward()
        again = pickle.loads(pickle.dumps(model))
        again.zero_grad()
        again(inputs).sum().backward()
        both, copied = net.used.weight.grad[0, 0].item(), again.module.used.weight.grad[0, 0].item()
        return [alone, both, net.unused.weight.grad, copied]

    assert program() == [[1.0, 4.0, None, 2.0], [3.0, 4.0, None, 2.0]]


def test_a_dtype_for_sums_alone() -> None:
    @ranks()
    def program() -> Any:
        net = nn.Linear(1, 1, bias=False)
        model = DistributedDataParallel(net, mixed_precision=_MixedPrecision(reduce_dtype=torch.float16))
        model(torch.full((1, 1), 2049.0)).sum().backward()
        return net.weight.dtype, net.weight.grad.dtype, net.weight.grad.item()

    assert program() == [(torch.float32, torch.float32, 2048.0)] * 2  # float16 rounds the odd number
