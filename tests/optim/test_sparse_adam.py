"""SparseAdam, which refuses dense gradients.

Mirrors: test/optim/test_optim.py
Leaves out: sparse gradients.
"""

from types import ModuleType
from typing import Any

import pytest

from tests.optim.rules import check_error, check_options, errors


def test_options_are_those_of_torch(real_torch: ModuleType) -> None:
    check_options(real_torch, "SparseAdam")


ERRORS: list[dict[str, Any]] = [{"lr": 0.0}, {"eps": 0.0}, {"betas": (1.0, 0.9)}, {"betas": (0.9, -0.1)}]


@pytest.mark.parametrize("options", ERRORS, ids=str)
def test_errors_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    check_error(real_torch, "SparseAdam", options)


def test_a_dense_gradient_is_refused_as_in_torch(real_torch: ModuleType) -> None:
    def step(lib: ModuleType) -> None:
        p = lib.nn.Parameter(lib.ones(1))
        optimizer = lib.optim.SparseAdam([p])
        assert optimizer.step(lambda: 3) == 3
        p.grad = lib.ones(1)
        optimizer.step()

    ours, theirs = errors(real_torch, step)
    assert ours == theirs
