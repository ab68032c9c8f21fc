"""Stochastic gradient descent.

Mirrors: test/optim/test_optim.py
"""

import random
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.optim import SGD
from tests.optim.rules import (
    assert_close,
    check_differentiable,
    check_error,
    check_foreach,
    check_fused,
    check_fused_of_16_bits,
    check_fused_with_scaler,
    check_old_state,
    check_options,
    check_rule,
    flag,
    foreach,
    log_uniform,
    sometimes,
)


def draw(rng: random.Random) -> dict[str, Any]:
    nesterov = flag(rng)
    return {
        "lr": log_uniform(rng, 1e-3, 0.3),
        "momentum": rng.uniform(0.1, 0.95) if nesterov else sometimes(rng, rng.uniform(0.0, 0.95)),
        "dampening": 0 if nesterov else sometimes(rng, rng.uniform(0.0, 1.0)),
        "weight_decay": sometimes(rng, 0.1),
        "nesterov": nesterov,
        "maximize": flag(rng),
        "foreach": foreach(rng),
    }


@pytest.mark.parametrize("seed", range(20))
def test_fifty_steps_are_those_of_torch(real_torch: ModuleType, seed: int) -> None:
    check_rule(real_torch, "SGD", draw, seed)


def test_options_are_those_of_torch(real_torch: ModuleType) -> None:
    check_options(real_torch, "SGD")


def test_an_old_state_is_completed(real_torch: ModuleType) -> None:
    check_old_state(real_torch, "SGD", ("nesterov", "maximize", "foreach", "differentiable", "fused"))


@pytest.mark.parametrize("options", [{"lr": 0.1}, {"lr": 0.1, "weight_decay": 0.1, "maximize": True}])
def test_gradients_through_steps_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    check_differentiable(real_torch, "SGD", options)


@pytest.mark.parametrize("name", ["lr", "weight_decay"])
def test_gradients_of_options_are_those_of_torch(real_torch: ModuleType, name: str) -> None:
    found = []
    for lib in (reftorch, real_torch):
        option = lib.tensor(0.1, dtype=lib.float64, requires_grad=True)
        start = lib.tensor([1.0, -2.0], dtype=lib.float64, requires_grad=True)
        p = start.clone()
        p.grad = lib.tensor([0.5, 3.0], dtype=lib.float64)
        lib.optim.SGD([p], **{"lr": 0.1, name: option}, differentiable=True).step()
        p.square().sum().backward()
        found.append([option.grad.item(), *start.grad.tolist()])
    assert_close(found[0], found[1], 1e-12)


def test_a_step_by_hand() -> None:
    p = reftorch.nn.Parameter(reftorch.tensor([2.0]))
    optimizer = SGD([p], lr=0.5, momentum=0.5, weight_decay=1.0)
    p.grad = reftorch.tensor([1.0])
    optimizer.step()  # g = 1 + 2, b = 3, p = 2 - 0.5 * 3
    assert p.tolist() == [0.5]
    optimizer.step()  # g = 1 + 0.5, b = 1.5 + 1.5, p = 0.5 - 0.5 * 3
    assert p.tolist() == [-1.0]
    assert optimizer.state[p]["momentum_buffer"].tolist() == [3.0]
    assert p.grad.tolist() == [1.0]


def test_a_step_records_nothing_and_keeps_the_parameter() -> None:
    p = reftorch.nn.Parameter(reftorch.ones(1))
    p.grad = reftorch.ones(1)
    SGD([p], lr=0.1).step()
    assert p.is_leaf
    assert p.requires_grad
    assert p._version == 1


def test_the_closure_records_and_its_loss_comes_back() -> None:
    p = reftorch.nn.Parameter(reftorch.ones(1))
    optimizer = SGD([p], lr=0.25)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with reftorch.no_grad():
        loss = optimizer.step(closure)
    assert loss.item() == 1.0
    assert p.tolist() == [0.5]
    assert optimizer.step() is None


def test_without_momentum_there_is_no_state() -> None:
    p = reftorch.nn.Parameter(reftorch.ones(1))
    p.grad = reftorch.ones(1)
    optimizer = SGD([p], lr=0.1)
    optimizer.step()
    assert not optimizer.state


def test_a_learning_rate_may_be_a_tensor_and_change() -> None:
    p = reftorch.nn.Parameter(reftorch.tensor([1.0]))
    p.grad = reftorch.tensor([1.0])
    optimizer = SGD([p], lr=reftorch.tensor(0.5))
    optimizer.step()
    assert p.tolist() == [0.5]
    optimizer.param_groups[0]["lr"] = 0.25
    optimizer.step()
    assert p.tolist() == [0.25]


def test_options_of_others_in_a_group_do_no_harm() -> None:
    p = reftorch.nn.Parameter(reftorch.tensor([1.0]))
    p.grad = reftorch.tensor([1.0])
    optimizer = SGD([{"params": p, "initial_lr": 3.0}], lr=0.5)
    optimizer.step()
    assert p.tolist() == [0.5]


ERRORS: list[dict[str, Any]] = [
    {"lr": -1.0},
    {"momentum": -0.5},
    {"weight_decay": -0.5},
    {"nesterov": True},
    {"nesterov": True, "momentum": 0.9, "dampening": 0.1},
    {"fused": True, "foreach": True},
    {"fused": True, "differentiable": True},
]


@pytest.mark.parametrize("options", ERRORS, ids=str)
def test_errors_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    check_error(real_torch, "SGD", options)


def test_a_learning_rate_of_several_elements() -> None:
    with pytest.raises(ValueError, match="Tensor lr must be 1-element"):
        SGD([reftorch.nn.Parameter(reftorch.ones(1))], lr=reftorch.ones(2))


def test_training_brings_the_loss_down() -> None:
    reftorch.manual_seed(0)
    net = reftorch.nn.Sequential(reftorch.nn.Linear(2, 16), reftorch.nn.ReLU(), reftorch.nn.Linear(16, 2))
    x = reftorch.randn(64, 2)
    target = (x[:, 0] * x[:, 1] > 0).to(reftorch.int64)
    loss_fn, optimizer = reftorch.nn.CrossEntropyLoss(), SGD(net.parameters(), lr=0.5, momentum=0.9)
    losses = []
    for _ in range(100):
        optimizer.zero_grad()
        loss = loss_fn(net(x), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]


@pytest.mark.parametrize("seed", range(10))
def test_functions_of_lists_do_what_the_loop_does(seed: int) -> None:
    check_foreach(draw, "SGD", seed)


@pytest.mark.parametrize("seed", range(4))
def test_the_fused_kernel_gives_the_numbers_of_the_loop_and_of_torch(real_torch: ModuleType, seed: int) -> None:
    check_fused(real_torch, draw, "SGD", seed)


def test_the_fused_kernel_and_16_bits(real_torch: ModuleType) -> None:
    check_fused_of_16_bits(real_torch, "SGD", {"lr": 0.1, "momentum": 0.5})


def test_the_fused_kernel_and_a_scaler(real_torch: ModuleType) -> None:
    check_fused_with_scaler(real_torch, "SGD")


def test_integers_have_no_fused_kernel() -> None:
    p = reftorch.nn.Parameter(reftorch.ones(2, dtype=reftorch.int64), requires_grad=False)
    p.grad = reftorch.ones(2, dtype=reftorch.int64)
    with pytest.raises(RuntimeError, match="`fused=True` requires all the params to be floating point Tensors of"):
        reftorch.optim.SGD([p], fused=True).step()
