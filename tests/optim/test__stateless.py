"""A step of an optimizer on other parameters.

Mirrors: test/optim/test_optim.py
"""

import copy
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.optim.rules import Training, assert_close, errors, plain

OPTIONS = {"lr": 0.1, "momentum": 0.9}


def swap(lib: ModuleType, change: Any = None) -> tuple[Any, Any]:
    """Make a step on other parameters, with a state that ``change`` may have spoiled."""
    training = Training(lib, "SGD", OPTIONS, "swap")
    training.steps(2)
    state = copy.deepcopy(training.optimizer.state_dict())
    params = [p for group in training.optimizer.param_groups for p in group["params"]]
    others = {str(i): lib.ones(p.shape, dtype=p.dtype) for i, p in enumerate(params)}
    for other in others.values():
        other.grad = lib.ones(other.shape, dtype=other.dtype)
    state["param_groups"][0]["lr"] = 1.0
    if change is not None:
        state = change(training.optimizer, others, state)
    before = plain(training.optimizer.state_dict()), [p.tolist() for p in params]
    with lib.optim.swap_in_optimizer_params_and_state(training.optimizer, others, state):
        training.optimizer.step()
        within = plain(training.optimizer.state_dict())
    assert (plain(training.optimizer.state_dict()), [p.tolist() for p in params]) == before
    assert training.optimizer.param_groups[0]["params"][0] is params[0]
    return {key: other.tolist() for key, other in others.items()}, within


def test_other_parameters_make_the_step_of_torch(real_torch: ModuleType) -> None:
    assert_close(swap(reftorch), swap(real_torch), 1e-12)


def test_the_optimizer_is_as_before_after_an_error() -> None:
    training = Training(reftorch, "SGD", OPTIONS, "swap")
    training.steps(1)
    before = plain(training.optimizer.state_dict())
    others = {str(i): reftorch.zeros(1) for i in range(5)}
    swapped = reftorch.optim.swap_in_optimizer_params_and_state
    with pytest.raises(ZeroDivisionError), swapped(training.optimizer, others, training.optimizer.state_dict()):
        raise ZeroDivisionError
    assert plain(training.optimizer.state_dict()) == before


def with_groups(change: Any) -> Any:
    def changed(optimizer: Any, others: Any, state: Any) -> Any:
        change(state["param_groups"])
        return state

    return changed


CHANGES: dict[str, Any] = {
    "no state": lambda optimizer, others, state: optimizer.state.clear() or state,
    "no dict": lambda optimizer, others, state: [1],
    "state": lambda optimizer, others, state: {**state, "state": [1]},
    "keys": lambda optimizer, others, state: {**state, "state": dict(optimizer.state)},
    "entries": lambda optimizer, others, state: {**state, "state": {0: 3}},
    "extra": lambda optimizer, others, state: {**state, "state": {**state["state"], "epoch": 3}},
    "groups": lambda optimizer, others, state: {**state, "param_groups": {}},
    "number of groups": with_groups(lambda groups: groups.pop()),
    "a group": with_groups(lambda groups: groups.__setitem__(0, [1])),
    "ids": with_groups(lambda groups: groups[0].update(params=["a", "b"])),
    "number of params": with_groups(lambda groups: groups[0]["params"].pop()),
    "options": with_groups(lambda groups: groups[0].update(other=3) or groups[0].pop("lr")),
    "parameters": lambda optimizer, others, state: others.clear() or state,
}


@pytest.mark.parametrize("case", CHANGES)
def test_errors_are_those_of_torch(real_torch: ModuleType, case: str) -> None:
    ours, theirs = errors(real_torch, lambda lib: swap(lib, CHANGES[case]))
    assert ours == theirs
