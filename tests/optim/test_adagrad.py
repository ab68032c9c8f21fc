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


def test_fused_is_refused() -> None:
    p = reftorch.nn.Parameter(reftorch.ones(1))
    p.grad = reftorch.ones(1)
    optimizer = reftorch.optim.Adagrad([p], fused=True)
    with pytest.raises(RuntimeError, match="`fused=True` requires all the params to be floating point Tensors of"):
        optimizer.step()


@pytest.mark.parametrize("seed", range(10))
def test_functions_of_lists_do_what_the_loop_does(seed: int) -> None:
    check_foreach(draw, "Adagrad", seed)


def test_functions_of_lists_are_not_differentiable(real_torch: ModuleType) -> None:
    check_foreach_is_not_differentiable(real_torch, "Adagrad")
