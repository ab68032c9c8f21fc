"""Adafactor.

Mirrors: test/optim/test_optim.py
"""

import random
from types import ModuleType
from typing import Any

import pytest

from tests.optim.rules import (
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
        "lr": log_uniform(rng, 1e-3, 1.0),
        "beta2_decay": rng.uniform(-1.0, -0.1),
        "eps": (rng.choice([None, 1e-6]), log_uniform(rng, 1e-4, 1e-1)),
        "d": rng.uniform(1.0, 3.0),
        "weight_decay": sometimes(rng, 0.1),
        "maximize": flag(rng),
        "foreach": foreach(rng),
    }


@pytest.mark.parametrize("seed", range(20))
def test_fifty_steps_are_those_of_torch(real_torch: ModuleType, seed: int) -> None:
    check_rule(real_torch, "Adafactor", draw, seed)


def test_options_are_those_of_torch(real_torch: ModuleType) -> None:
    check_options(real_torch, "Adafactor")


ERRORS: list[dict[str, Any]] = [
    {"lr": -1.0},
    {"beta2_decay": 0.1},
    {"eps": (-1.0, 1e-3)},
    {"eps": (None, -1.0)},
    {"d": 0.5},
    {"weight_decay": -1.0},
]


@pytest.mark.parametrize("options", ERRORS, ids=str)
def test_errors_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    check_error(real_torch, "Adafactor", options)


def test_an_old_state_is_completed(real_torch: ModuleType) -> None:
    check_old_state(real_torch, "Adafactor", ("foreach",))
