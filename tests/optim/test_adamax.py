"""Adamax.

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
        "lr": log_uniform(rng, 1e-3, 0.01),
        "betas": (rng.uniform(0.0, 0.99), rng.uniform(0.9, 0.999)),
        "eps": log_uniform(rng, 1e-8, 1e-2),
        "weight_decay": sometimes(rng, 0.1),
        "maximize": flag(rng),
        "foreach": foreach(rng),
    }


@pytest.mark.parametrize("seed", range(20))
def test_fifty_steps_are_those_of_torch(real_torch: ModuleType, seed: int) -> None:
    check_rule(real_torch, "Adamax", draw, seed, rel=1e-5)


def test_options_are_those_of_torch(real_torch: ModuleType) -> None:
    check_options(real_torch, "Adamax")


ERRORS: list[dict[str, Any]] = [
    {"lr": -1.0},
    {"betas": (1.0, 0.9)},
    {"betas": (0.9, -0.1)},
    {"weight_decay": -0.5},
    {"eps": -1.0},
]


@pytest.mark.parametrize("options", ERRORS, ids=str)
def test_errors_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    check_error(real_torch, "Adamax", options)


def test_an_old_state_is_completed(real_torch: ModuleType) -> None:
    check_old_state(real_torch, "Adamax", ("foreach", "maximize", "differentiable", "capturable"))


@pytest.mark.parametrize("options", [{}, {"lr": 0.1, "weight_decay": 0.1}])
def test_gradients_through_steps_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    check_differentiable(real_torch, "Adamax", options)


def test_capturable_is_refused() -> None:
    check_capturable("Adamax")


@pytest.mark.parametrize("seed", range(10))
def test_functions_of_lists_do_what_the_loop_does(seed: int) -> None:
    check_foreach(draw, "Adamax", seed)


def test_functions_of_lists_are_not_differentiable(real_torch: ModuleType) -> None:
    check_foreach_is_not_differentiable(real_torch, "Adamax")
