"""AdamW.

Mirrors: test/optim/test_optim.py
"""

import random
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.optim.adamw import adamw
from tests.optim.rules import (
    betas,
    check_foreach,
    check_fused,
    check_fused_of_16_bits,
    check_fused_with_scaler,
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
        "betas": betas(rng),
        "eps": log_uniform(rng, 1e-8, 1e-2),
        "weight_decay": sometimes(rng, 0.1),
        "amsgrad": flag(rng),
        "maximize": flag(rng),
        "foreach": foreach(rng),
    }


@pytest.mark.parametrize("seed", range(20))
def test_fifty_steps_are_those_of_torch(real_torch: ModuleType, seed: int) -> None:
    check_rule(real_torch, "AdamW", draw, seed)


def test_options_are_those_of_torch(real_torch: ModuleType) -> None:
    check_options(real_torch, "AdamW")


def test_a_state_of_adam_is_decoupled_after_loading() -> None:
    p = reftorch.nn.Parameter(reftorch.ones(1))
    optimizer = reftorch.optim.AdamW([p])
    optimizer.load_state_dict(reftorch.optim.Adam([p]).state_dict())
    assert optimizer.param_groups[0]["decoupled_weight_decay"] is True


def test_the_function_decays_without_a_gradient() -> None:
    p, zero = reftorch.tensor([2.0]), reftorch.zeros(1)
    options = {"beta1": 0.9, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.5, "eps": 1e-8}
    states = [zero.clone()], [zero.clone()], [], [reftorch.tensor(0.0)]
    adamw([p], [zero], *states, amsgrad=False, maximize=False, **options)
    assert p.item() == pytest.approx(2.0 * (1 - 0.1 * 0.5))


@pytest.mark.parametrize("seed", range(10))
def test_functions_of_lists_do_what_the_loop_does(seed: int) -> None:
    check_foreach(draw, "AdamW", seed)


@pytest.mark.parametrize("seed", range(4))
def test_the_fused_kernel_gives_the_numbers_of_the_loop_and_of_torch(real_torch: ModuleType, seed: int) -> None:
    check_fused(real_torch, draw, "AdamW", seed)


def test_the_fused_kernel_and_16_bits(real_torch: ModuleType) -> None:
    check_fused_of_16_bits(real_torch, "AdamW", {"lr": 0.1, "weight_decay": 0.5})


def test_the_fused_kernel_and_a_scaler(real_torch: ModuleType) -> None:
    check_fused_with_scaler(real_torch, "AdamW")


def test_integers_have_no_fused_kernel() -> None:
    p = reftorch.nn.Parameter(reftorch.ones(2, dtype=reftorch.int64), requires_grad=False)
    p.grad = reftorch.ones(2, dtype=reftorch.int64)
    with pytest.raises(RuntimeError, match="`fused=True` requires all the params to be floating point Tensors of"):
        reftorch.optim.AdamW([p], fused=True).step()
