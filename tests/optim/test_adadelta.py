"""Adadelta.

Mirrors: test/optim/test_optim.py
"""

import random
from types import ModuleType
from typing import Any

import pytest

from tests.optim.rules import (
    check_capturable,
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
        "lr": log_uniform(rng, 0.1, 10.0),
        "rho": rng.uniform(0.0, 1.0),
        "eps": log_uniform(rng, 1e-6, 1e-2),
        "weight_decay": sometimes(rng, 0.1),
        "maximize": flag(rng),
        "foreach": foreach(rng),
    }


@pytest.mark.parametrize("seed", range(20))
def test_fifty_steps_are_those_of_torch(real_torch: ModuleType, seed: int) -> None:
    check_rule(real_torch, "Adadelta", draw, seed)


def test_options_are_those_of_torch(real_torch: ModuleType) -> None:
    check_options(real_torch, "Adadelta")


ERRORS: list[dict[str, Any]] = [
    {"lr": -1.0},
    {"rho": -0.1},
    {"rho": 1.1},
    {"eps": -1.0},
    {"weight_decay": -1.0},
]


@pytest.mark.parametrize("options", ERRORS, ids=str)
def test_errors_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    check_error(real_torch, "Adadelta", options)


def test_an_old_state_is_completed(real_torch: ModuleType) -> None:
    check_old_state(real_torch, "Adadelta", ("foreach", "maximize", "differentiable", "capturable"))


@pytest.mark.parametrize("options", [{}, {"lr": 0.1, "weight_decay": 0.1}])
def test_gradients_through_steps_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    check_differentiable(real_torch, "Adadelta", options)


def test_capturable_is_refused() -> None:
    check_capturable("Adadelta")


@pytest.mark.parametrize("seed", range(10))
def test_functions_of_lists_do_what_the_loop_does(seed: int) -> None:
    check_foreach(draw, "Adadelta", seed)


def test_functions_of_lists_are_not_differentiable(real_torch: ModuleType) -> None:
    check_foreach_is_not_differentiable(real_torch, "Adadelta")
