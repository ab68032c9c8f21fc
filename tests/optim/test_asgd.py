"""Averaged stochastic gradient descent.

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
        "lr": log_uniform(rng, 1e-3, 0.1),
        "lambd": log_uniform(rng, 1e-4, 1e-1),
        "alpha": rng.uniform(0.0, 1.0),
        "t0": rng.choice([0, 1, 10, 1e6]),
        "weight_decay": sometimes(rng, 0.1),
        "maximize": flag(rng),
        "foreach": foreach(rng),
    }


@pytest.mark.parametrize("seed", range(20))
def test_fifty_steps_are_those_of_torch(real_torch: ModuleType, seed: int) -> None:
    check_rule(real_torch, "ASGD", draw, seed)


def test_options_are_those_of_torch(real_torch: ModuleType) -> None:
    check_options(real_torch, "ASGD")


ERRORS: list[dict[str, Any]] = [
    {"lr": -1.0},
    {"weight_decay": -1.0},
]


@pytest.mark.parametrize("options", ERRORS, ids=str)
def test_errors_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    check_error(real_torch, "ASGD", options)


def test_an_old_state_is_completed(real_torch: ModuleType) -> None:
    check_old_state(real_torch, "ASGD", ("foreach", "maximize", "differentiable", "capturable"))


@pytest.mark.parametrize("options", [{}, {"lr": 0.1, "t0": 1, "weight_decay": 0.1}])
def test_gradients_through_steps_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    check_differentiable(real_torch, "ASGD", options)


def test_capturable_is_refused() -> None:
    check_capturable("ASGD")
