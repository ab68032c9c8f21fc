"""Adagrad.

Mirrors: test/optim/test_optim.py
"""

import random
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.optim.rules import (
    check_differentiable,
    check_error,
    check_foreach,
    check_foreach_is_not_differentiable,
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
    return {
        "lr": log_uniform(rng, 1e-3, 1.0),
        "lr_decay": sometimes(rng, rng.uniform(0.0, 0.1)),
        "weight_decay": sometimes(rng, 0.1),
        "initial_accumulator_value": sometimes(rng, rng.uniform(0.0, 1.0)),
        "eps": log_uniform(rng, 1e-10, 1e-2),
        "maximize": flag(rng),
        "foreach": foreach(rng),
    }


@pytest.mark.parametrize("seed", range(20))
def test_fifty_steps_are_those_of_torch(real_torch: ModuleType, seed: int) -> None:
    check_rule(real_torch, "Adagrad", draw, seed)


def test_options_are_those_of_torch(real_torch: ModuleType) -> None:
    check_options(real_torch, "Adagrad")


ERRORS: list[dict[str, Any]] = [
    {"lr": -1.0},
    {"lr_decay": -1.0},
    {"weight_decay": -1.0},
    {"initial_accumulator_value": -1.0},
    {"eps": -1.0},
    {"fused": True, "foreach": True},
    {"fused": True, "differentiable": True},
]


@pytest.mark.parametrize("options", ERRORS, ids=str)
def test_errors_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    check_error(real_torch, "Adagrad", options)


def test_an_old_state_is_completed(real_torch: ModuleType) -> None:
    check_old_state(real_torch, "Adagrad", ("foreach", "maximize", "differentiable", "fused"))


@pytest.mark.parametrize("options", [{}, {"lr": 0.1, "weight_decay": 0.1}])
def test_gradients_through_steps_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    check_differentiable(real_torch, "Adagrad", options)


def test_a_parameter_that_comes_later_gets_its_state() -> None:
    optimizer = reftorch.optim.Adagrad([reftorch.nn.Parameter(reftorch.ones(1))], initial_accumulator_value=0.5)
    p = reftorch.nn.Parameter(reftorch.ones(1))
    optimizer.add_param_group({"params": p})
    p.grad = reftorch.ones(1)
    optimizer.step()
    assert optimizer.state[p]["sum"].tolist() == [1.5]


@pytest.mark.parametrize("seed", range(10))
def test_functions_of_lists_do_what_the_loop_does(seed: int) -> None:
    check_foreach(draw, "Adagrad", seed)


def test_functions_of_lists_are_not_differentiable(real_torch: ModuleType) -> None:
    check_foreach_is_not_differentiable(real_torch, "Adagrad")


@pytest.mark.parametrize("seed", range(4))
def test_the_fused_kernel_gives_the_numbers_of_the_loop_and_of_torch(real_torch: ModuleType, seed: int) -> None:
    check_fused(real_torch, draw, "Adagrad", seed)


def test_the_fused_kernel_and_16_bits(real_torch: ModuleType) -> None:
    check_fused_of_16_bits(real_torch, "Adagrad", {"lr": 0.1})


def test_the_fused_kernel_and_a_scaler(real_torch: ModuleType) -> None:
    check_fused_with_scaler(real_torch, "Adagrad")


def test_integers_have_no_fused_kernel() -> None:
    p = reftorch.nn.Parameter(reftorch.ones(2, dtype=reftorch.int64), requires_grad=False)
    p.grad = reftorch.ones(2, dtype=reftorch.int64)
    with pytest.raises(RuntimeError, match="`fused=True` requires all the params to be floating point Tensors of"):
        reftorch.optim.Adagrad([p], fused=True).step()
