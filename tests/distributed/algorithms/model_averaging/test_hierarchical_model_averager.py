"""Averages on several levels, as in torch.

Mirrors: test/distributed/test_distributed_spawn.py
"""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import reftorch as torch
from reftorch.distributed.algorithms.model_averaging.hierarchical_model_averager import HierarchicalModelAverager
from tests.distributed.ranks import world


def seen(lib: Any) -> list[Any]:
    """Return the parameter of each of four ranks after each of ten steps."""
    name = f"{lib.__name__}.distributed.algorithms.model_averaging.hierarchical_model_averager"
    averagers = importlib.import_module(name)

    def program() -> list[float]:
        p = lib.nn.Parameter(lib.zeros(1, dtype=lib.float64))
        p.grad = lib.ones(1, dtype=lib.float64)
        averager = averagers.HierarchicalModelAverager({1: 1, 2: 2, 6: 4}, warmup_steps=3)
        found = []
        for step in range(10):
            with lib.no_grad():
                p.add_(lib.distributed.get_rank() ** 2 + step)
            averager.average_parameters([p])
            found.append(p.item())
        return found

    return world(lib, 4, program)


def test_each_level_averages_in_its_turn(real_torch: Any, noted: Any) -> None:
    ours = seen(torch)
    assert ours == noted(seen(real_torch))
    steps = list(zip(*ours, strict=True))
    assert len(set(steps[3])) == 4 and len(set(steps[4])) == 2 and len(set(steps[6])) == 1


def test_levels_that_do_not_fit() -> None:
    def program() -> None:
        for arguments, words in (
            ((None,), "must not be empty"),
            (({0: 2},), "must be a positive value"),
            (({2: 1},), "1 must be equal to the size of arg ``process_group`` 2"),
            (({2: 2}, -1), "must be a non-negative number"),
        ):
            with pytest.raises(ValueError, match=words):
                HierarchicalModelAverager(*arguments)  # type: ignore[arg-type]

    world(torch, 2, program)
