"""The hooks that average the gradients of a bucket: exact, with fewer bits, and as products of thin matrices.

Mirrors: test/distributed/algorithms/ddp_comm_hooks/test_ddp_hooks.py
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.distributed.algorithms import ddp_comm_hooks
from reftorch.distributed.algorithms.ddp_comm_hooks import (
    DDPCommHookType,
    quantization_hooks,
    register_ddp_comm_hook,
)
from reftorch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook, bf16_compress_wrapper
from reftorch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import (
    PowerSGDState,
    batched_powerSGD_hook,
    powerSGD_hook,
)
from reftorch.distributed.algorithms.ddp_comm_hooks.quantization_hooks import (
    quantization_perchannel_hook,
    quantization_pertensor_hook,
)
from reftorch.futures import Future
from reftorch.nn.parallel import DistributedDataParallel
from tests.nn.parallel.ddp_ranks import Layers, batch, near, ranks

dist: Any = torch.distributed


def averages(hook: Any, state: Callable[[], Any] = lambda: None, passes: int = 1, **options: Any) -> Any:
    """Return, for each rank, the flat gradients of a layer in some passes. Rank r multiplies its inputs by r + 1."""

    @ranks()
    def program() -> list[list[float]]:
        net = nn.Linear(3, 2, bias=False, dtype=torch.float64)
        model = DistributedDataParallel(net, **options)
        model.register_comm_hook(state(), hook)
        found = []
        for step in range(passes):
            net.zero_grad()
            x = torch.arange(12, dtype=torch.float64).add(step).sin().reshape(4, 3) * (dist.get_rank() + 1)
            (model(x) * torch.arange(8, dtype=torch.float64).cos().reshape(4, 2)).sum().backward()
            found.append(net.weight.grad.reshape(-1).tolist())
        return found

    return program()


def test_builtin_hooks_average_too() -> None:
    def program() -> Any:
        grads = []
        for kind in (None, dist.BuiltinCommHookType.ALLREDUCE, dist.BuiltinCommHookType.FP16_COMPRESS):
            net = copy.deepcopy(first)
            model = DistributedDataParallel(net)
            if kind is not None:
                model._register_builtin_comm_hook(kind)
            model(batch(dist.get_rank())).sum().backward()
            grads.append(net[0].weight.grad)
        assert torch.equal(grads[0], grads[1]) and torch.allclose(grads[0], grads[2], rtol=1e-2, atol=1e-3)
        assert not torch.equal(grads[0], grads[2])

    first = Layers()
    ranks()(program)()


def test_hooks_that_average() -> None:
    expected = averages(allreduce_hook)
    near(expected[0], expected[1])
    for hook in (bf16_compress_wrapper(allreduce_hook), ddp_comm_hooks.default.bf16_compress_hook):
        found = averages(hook)
        assert found[0] == found[1] and found != expected
        assert found[0][0] == pytest.approx(expected[0][0], rel=0.02)


def test_a_hook_without_communication_keeps_the_gradients_of_the_rank() -> None:
    one, two = averages(ddp_comm_hooks.debugging.noop_hook)
    assert two[0] == pytest.approx([2 * g for g in one[0]])


def test_quantized_gradients_are_off_by_half_a_step_at_most() -> None:
    """The bucket of 30 gradients is sent as bytes, with one step on each rank, or with one for each ten of them."""
    exact = torch.linspace(-1, 3, 30)
    exact[25] = 200.0

    def averaged(hook: Any) -> list[Any]:
        @ranks()
        def program() -> Any:
            net = nn.Linear(30, 1, bias=False)
            model = DistributedDataParallel(net)
            model.register_comm_hook(None, hook)
            model((exact * (1.0 + 2 * dist.get_rank())).reshape(1, -1)).sum().backward()
            return net.weight.grad.reshape(-1)

        results = program()
        assert torch.equal(*results)
        return (results[0] - 2 * exact).abs()

    whole = averaged(quantization_pertensor_hook)
    parts = averaged(lambda state, bucket: quantization_perchannel_hook(state, bucket, 10))
    step = 201 * 2 / 255  # the mean of both ranks' steps
    assert 0.1 * step < whole.max() <= 0.5 * step * 1.001
    assert 0 < parts[:20].max() < 3.5 * 2 / 255 and parts[20:].max() > 0.1 * step


def test_steps_and_zeros_are_those_of_torch(real_torch: Any) -> None:
    observers = real_torch.ao.quantization
    for values in ([[0.5, 2.0, 1.0], [-3.0, -1.0, -2.0]], [[0.0, 0.0, 0.0], [-1.0, 5.0, 0.3]]):
        for rows, observer in (
            (values, observers.PerChannelMinMaxObserver()),
            ([values[0] + values[1]], observers.MinMaxObserver()),
        ):
            observer(real_torch.tensor(rows))
            scale, zero = observer.calculate_qparams()
            ours = quantization_hooks._steps_of(torch.tensor(rows))
            assert [t.reshape(-1).tolist() for t in ours] == [scale.tolist(), [float(z) for z in zero]]


def test_power_sgd_of_full_rank_is_exact() -> None:
    full = averages(powerSGD_hook, lambda: PowerSGDState(None, 2, 2, min_compression_rate=0.1), passes=4)
    near(full, averages(allreduce_hook, passes=4))


def test_batched_power_sgd_takes_a_bucket_as_one_square_matrix() -> None:
    """Six numbers are a matrix of 3 x 3 with zeros at its end. PyTorch's own hook fails: it fell behind its helpers."""
    states = []

    def state() -> PowerSGDState:
        states.append(PowerSGDState(None, 1, 2))
        return states[-1]

    passes = 12
    low = averages(batched_powerSGD_hook, state, passes=passes)
    exact = averages(allreduce_hook, passes=passes)
    assert low[0] == low[1] and low[0][:2] == exact[0][:2]
    rows = torch.tensor(low[0][3], dtype=torch.float64).reshape(2, 3)  # the third row of the square is cut off
    assert torch.linalg.matrix_rank(rows).item() == 1
    errors = sum(s.error_dict[0][:6] for s in states) / 2
    sums = [torch.tensor(values, dtype=torch.float64).sum(0) for values in (low[0], exact[0])]
    assert torch.allclose(sums[0] + errors, sums[1], atol=1e-9)
    assert states[0].compression_stats() == (1, 6 * (passes - 2), 6 * (passes - 2))
    full = averages(batched_powerSGD_hook, lambda: PowerSGDState(None, 2, 2), passes=4)  # this square has rank 2
    near(full, averages(allreduce_hook, passes=4))


def test_power_sgd_of_low_rank_loses_nothing_for_ever() -> None:
    """What a pass leaves out comes in the next ones: sums over passes differ by the last error only."""
    states = []

    def state() -> PowerSGDState:
        states.append(PowerSGDState(None, 1, 2, min_compression_rate=1))
        return states[-1]

    passes = 12
    low = averages(powerSGD_hook, state, passes=passes)
    exact = averages(allreduce_hook, passes=passes)
    assert low[0] == low[1] and low[0][:2] == exact[0][:2]
    assert torch.linalg.matrix_rank(torch.tensor(low[0][3]).reshape(2, 3)).item() == 1
    errors = sum(s.error_dict[0] for s in states) / 2
    sums = [torch.tensor(values, dtype=torch.float64).sum(0) for values in (low[0], exact[0])]
    assert torch.allclose(sums[0] + errors, sums[1], atol=1e-9)
    assert states[0].compression_stats() == (6 / 5, 6 * (passes - 2), 5 * (passes - 2))
    with pytest.raises(ValueError, match="Expect `start_powerSGD_iter` > 1"):
        PowerSGDState(None, start_powerSGD_iter=1)


def test_the_list_of_hooks() -> None:
    @ranks()
    def program() -> list[float]:
        found = []
        for kind in DDPCommHookType:
            net = nn.Linear(1, 1, bias=False)
            model = DistributedDataParallel(net)
            register_ddp_comm_hook(kind, model)
            model(torch.full((1, 1), 1.0 + 2 * dist.get_rank())).sum().backward()
            found.append(net.weight.grad.item())
        return found

    near(program(), [[2.0] * 9 + [1.0], [2.0] * 9 + [3.0]])


def test_hooks_that_do_not_fit() -> None:
    @ranks(1)
    def program() -> None:
        model = DistributedDataParallel(nn.Linear(1, 1))
        with pytest.raises(TypeError, match="must be callable"):
            model.register_comm_hook(None, 1)  # type: ignore[arg-type]

        def wrong_bucket(state: Any, bucket: int) -> Any: ...

        def wrong_result(state: Any, bucket: Any) -> int:
            return 0

        wrong_bucket.__annotations__["bucket"] = int
        wrong_result.__annotations__["return"] = int
        del wrong_bucket.__annotations__["return"]
        with pytest.raises(ValueError, match="bucket annotation should be"):
            model.register_comm_hook(None, wrong_bucket)
        with pytest.raises(ValueError, match="return annotation should be"):
            model.register_comm_hook(None, wrong_result)
        model.register_comm_hook(None, allreduce_hook)
        with pytest.raises(RuntimeError, match="can only be called once"):
            model.register_comm_hook(None, allreduce_hook)

        def fails(state: Any, bucket: Any) -> Future[Any]:
            raise ZeroDivisionError("in a hook")

        failing = DistributedDataParallel(nn.Linear(1, 1))
        failing.register_comm_hook(None, fails)
        with pytest.raises(ZeroDivisionError, match="in a hook"):
            failing(torch.ones(1, 1)).sum().backward()

    program()
