"""Muon.

Mirrors: test/optim/test_optim.py
"""

import random
from types import ModuleType
from typing import Any

import pytest

from tests.optim.rules import (
    check_options,
    check_rule,
    errors,
    flag,
    log_uniform,
    sometimes,
)

SHAPES = [(3, 4), (4, 3), (5, 5)]


def draw(rng: random.Random) -> dict[str, Any]:
    return {
        "lr": log_uniform(rng, 1e-3, 0.1),
        "weight_decay": sometimes(rng, 0.1),
        "momentum": rng.uniform(0.0, 0.99),
        "nesterov": flag(rng),
        "ns_steps": rng.choice([1, 3, 5]),
        "adjust_lr_fn": rng.choice([None, "original", "match_rms_adamw"]),
    }


@pytest.mark.parametrize("seed", range(20))
def test_fifty_steps_are_those_of_torch(real_torch: ModuleType, seed: int) -> None:
    check_rule(real_torch, "Muon", draw, seed, SHAPES, rel=0.02)  # the steps of Newton are in bfloat16


def test_options_are_those_of_torch(real_torch: ModuleType) -> None:
    check_options(real_torch, "Muon")


ERRORS: list[dict[str, Any]] = [
    {"lr": -1.0},
    {"momentum": -1.0},
    {"weight_decay": -1.0},
    {"adjust_lr_fn": "other"},
]


@pytest.mark.parametrize("options", ERRORS, ids=str)
def test_errors_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    ours, theirs = errors(real_torch, lambda lib: lib.optim.Muon([lib.nn.Parameter(lib.ones(2, 2))], **options))
    assert ours == theirs


LATER: dict[str, Any] = {
    "not a matrix": lambda lib: lib.optim.Muon([lib.nn.Parameter(lib.ones(3))]),
    "steps": lambda lib: stepped(lib, ns_steps=100),
    "coefficients": lambda lib: stepped(lib, ns_coefficients=(1.0, 2.0)),
}


def stepped(lib: ModuleType, **options: Any) -> None:
    p = lib.nn.Parameter(lib.ones(2, 2))
    p.grad = lib.ones(2, 2)
    lib.optim.Muon([p], **options).step()


@pytest.mark.parametrize("case", LATER)
def test_shapes_and_numbers_of_steps_are_checked(real_torch: ModuleType, case: str) -> None:
    ours, theirs = errors(real_torch, LATER[case])
    assert ours == theirs
