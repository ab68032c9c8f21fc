"""L-BFGS.

Mirrors: test/optim/test_lbfgs.py
"""

import copy
import random
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.optim.rules import assert_close, check_error, check_options, errors, flag, log_uniform, moved, plain


def draw(rng: random.Random) -> dict[str, Any]:
    return {
        "lr": log_uniform(rng, 0.1, 1.0),
        "max_iter": rng.choice([1, 2, 5, 8]),
        "max_eval": rng.choice([None, 3, 30]),
        "tolerance_grad": log_uniform(rng, 1e-9, 1e-4),
        "tolerance_change": log_uniform(rng, 1e-9, 1e-6),
        "history_size": rng.choice([1, 3, 100]),
        "line_search_fn": "strong_wolfe" if flag(rng) else None,
    }


class Valley:
    """Rosenbrock's curved valley, in two parameters and one that has no gradient."""

    def __init__(self, lib: ModuleType, options: dict[str, Any], start: list[float]) -> None:
        self.x = lib.nn.Parameter(lib.tensor(start, dtype=lib.float64))
        self.y = lib.nn.Parameter(lib.tensor([[0.5]], dtype=lib.float64))
        unused = lib.nn.Parameter(lib.ones(2, dtype=lib.float64))
        self.optimizer = lib.optim.LBFGS([self.x, unused, self.y], **options)
        self.evaluations = 0

    def closure(self) -> Any:
        self.evaluations += 1
        self.optimizer.zero_grad()
        x, y = self.x, self.y
        loss = (1 - x[0]) ** 2 + 3 * (x[1] - x[0] ** 2) ** 2 + (y.square() + 1).sqrt().sum()
        loss.backward()
        return loss

    def steps(self, count: int) -> list[float]:
        path = []
        for _ in range(count):
            path += [self.optimizer.step(self.closure).item(), *self.x.tolist(), self.y.item(), self.evaluations]
        return path


@pytest.mark.parametrize("seed", range(30))
def test_steps_are_those_of_torch(real_torch: ModuleType, seed: int) -> None:
    rng = random.Random(f"LBFGS {seed}")
    options, start = draw(rng), [rng.uniform(-1.5, 1.5), rng.uniform(-1.5, 1.5)]
    ours, theirs = (Valley(lib, options, start) for lib in (reftorch, real_torch))
    # Two steps: at the minimum itself, differences of gradients are only rounding, and so are the numbers of the state.
    assert_close(ours.steps(2), theirs.steps(2), 1e-6, f"{options} path")
    our_state, their_state = ours.optimizer.state_dict(), theirs.optimizer.state_dict()
    assert_close(plain(our_state), plain(their_state), 1e-4, f"{options} state")
    assert repr(ours.optimizer) == repr(theirs.optimizer)


@pytest.mark.parametrize("line_search", [None, "strong_wolfe"])
def test_a_state_moves_between_the_libraries(real_torch: ModuleType, line_search: str | None) -> None:
    options = {"max_iter": 3, "lr": 0.3, "line_search_fn": line_search}
    paths = []
    for lib, other_lib in ((reftorch, real_torch), (real_torch, reftorch)):
        first = Valley(lib, options, [-1.0, 1.0])
        first.steps(3)
        second = Valley(other_lib, options, first.x.tolist())
        with other_lib.no_grad():
            second.y.copy_(moved(first.y.detach(), other_lib))
        second.optimizer.load_state_dict(moved(copy.deepcopy(first.optimizer.state_dict()), other_lib))
        paths.append(second.steps(3))
    assert_close(paths[0], paths[1], 1e-6)


def test_the_minimum_is_found() -> None:
    valley = Valley(reftorch, {"line_search_fn": "strong_wolfe", "tolerance_change": 1e-14}, [-1.2, 1.0])
    valley.steps(3)
    assert valley.x.tolist() == pytest.approx([1.0, 1.0], abs=1e-6)
    assert valley.evaluations < 80


def test_a_gradient_of_zero_ends_the_step_at_once() -> None:
    p = reftorch.nn.Parameter(reftorch.zeros(1))
    optimizer = reftorch.optim.LBFGS([p])

    def closure() -> Any:
        optimizer.zero_grad()
        loss = p.square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert optimizer.state[p] == {"func_evals": 1, "n_iter": 0}


def test_options_are_those_of_torch(real_torch: ModuleType) -> None:
    check_options(real_torch, "LBFGS")


def test_errors_are_those_of_torch(real_torch: ModuleType) -> None:
    check_error(real_torch, "LBFGS", {"lr": -1.0})
    cases = (
        lambda lib: lib.optim.LBFGS([{"params": lib.nn.Parameter(lib.ones(1))} for _ in range(2)]),
        lambda lib: Valley(lib, {"line_search_fn": "backtracking"}, [0.0, 0.0]).steps(1),
    )
    for case in cases:
        ours, theirs = errors(real_torch, case)
        assert ours == theirs
