"""RMSprop.

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
        "lr": log_uniform(rng, 1e-3, 0.1),
        "alpha": rng.uniform(0.0, 1.0),
        "eps": log_uniform(rng, 1e-6, 1e-2),
        "weight_decay": sometimes(rng, 0.1),
        "momentum": sometimes(rng, rng.uniform(0.0, 0.9)),
        "centered": flag(rng),
        "maximize": flag(rng),
        "foreach": foreach(rng),
    }


@pytest.mark.parametrize("seed", range(20))
def test_fifty_steps_are_those_of_torch(real_torch: ModuleType, seed: int) -> None:
    check_rule(real_torch, "RMSprop", draw, seed)


def test_options_are_those_of_torch(real_torch: ModuleType) -> None:
    check_options(real_torch, "RMSprop")


ERRORS: list[dict[str, Any]] = [
    {"lr": -1.0},
    {"alpha": -0.1},
    {"momentum": -0.1},
    {"eps": -1.0},
    {"weight_decay": -1.0},
]


@pytest.mark.parametrize("options", ERRORS, ids=str)
def test_errors_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    check_error(real_torch, "RMSprop", options)


def test_an_old_state_is_completed(real_torch: ModuleType) -> None:
    newer = ("momentum", "centered", "foreach", "maximize", "differentiable", "capturable")
    check_old_state(real_torch, "RMSprop", newer)


@pytest.mark.parametrize("options", [{}, {"lr": 0.1, "weight_decay": 0.1, "momentum": 0.9, "centered": True}])
def test_gradients_through_steps_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    check_differentiable(real_torch, "RMSprop", options)


def test_capturable_is_refused() -> None:
    check_capturable("RMSprop")


@pytest.mark.parametrize("seed", range(10))
def test_functions_of_lists_do_what_the_loop_does(seed: int) -> None:
    check_foreach(draw, "RMSprop", seed)


def test_functions_of_lists_are_not_differentiable(real_torch: ModuleType) -> None:
    check_foreach_is_not_differentiable(real_torch, "RMSprop")
