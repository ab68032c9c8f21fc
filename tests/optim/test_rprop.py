"""Rprop.

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
)


def draw(rng: random.Random) -> dict[str, Any]:
    return {
        "lr": log_uniform(rng, 1e-3, 0.3),
        "etas": (rng.uniform(0.1, 0.9), rng.uniform(1.1, 2.0)),
        "step_sizes": (log_uniform(rng, 1e-6, 1e-2), log_uniform(rng, 0.1, 50.0)),
        "maximize": flag(rng),
        "foreach": foreach(rng),
    }


@pytest.mark.parametrize("seed", range(20))
def test_fifty_steps_are_those_of_torch(real_torch: ModuleType, seed: int) -> None:
    check_rule(real_torch, "Rprop", draw, seed)


def test_options_are_those_of_torch(real_torch: ModuleType) -> None:
    check_options(real_torch, "Rprop")


ERRORS: list[dict[str, Any]] = [
    {"lr": -1.0},
    {"etas": (0.0, 1.2)},
    {"etas": (0.5, 1.0)},
    {"etas": (1.0, 1.2)},
]


@pytest.mark.parametrize("options", ERRORS, ids=str)
def test_errors_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    check_error(real_torch, "Rprop", options)


def test_an_old_state_is_completed(real_torch: ModuleType) -> None:
    check_old_state(real_torch, "Rprop", ("foreach", "maximize", "differentiable", "capturable"))


@pytest.mark.parametrize("options", [{}, {"lr": 0.1}])
def test_gradients_through_steps_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    check_differentiable(real_torch, "Rprop", options)


def test_capturable_is_refused() -> None:
    check_capturable("Rprop")
