"""Optimizers that are given the gradients.

Mirrors: test/distributed/optim/test_functional_optimizers.py
"""

from __future__ import annotations

from typing import Any

import pytest

import reftorch as torch
from reftorch.distributed.optim import as_functional_optim
from reftorch.distributed.optim._functional import _FunctionalSGD
from reftorch.distributed.optim.utils import functional_optim_map, register_functional_optim

SETTINGS: dict[str, dict[str, Any]] = {
    "Adagrad": {"lr": 0.1, "lr_decay": 0.1},
    "Adam": {"lr": 0.1, "betas": (0.8, 0.9), "amsgrad": True},
    "AdamW": {"lr": 0.1, "weight_decay": 0.5},
    "SGD": {"lr": 0.1, "momentum": 0.9, "nesterov": True},
    "Adadelta": {"rho": 0.8},
    "RMSprop": {"lr": 0.1, "momentum": 0.5},
    "Rprop": {"lr": 0.1, "etas": (0.4, 1.3)},
    "Adamax": {"lr": 0.1, "maximize": True},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_each_optimizer_steps_as_with_gradients_of_its_own(name: str) -> None:
    kind: Any = getattr(torch.optim, name)
    functional = as_functional_optim(kind, **SETTINGS[name])
    ours, theirs = torch.tensor([1.0, -2.0, 3.0]), torch.tensor([1.0, -2.0, 3.0])
    optimizer = kind([theirs], **SETTINGS[name])
    for step in range(3):
        gradient = torch.tensor([0.5, 1.0 - step, -0.25])
        functional.step_param(ours, gradient)
        theirs.grad = gradient.clone()
        optimizer.step()
        assert torch.equal(ours, theirs) and ours.grad is None
    assert type(functional).__name__ == f"_Functional{name}"
    assert set(SETTINGS) == {each.__name__ for each in functional_optim_map}


def test_a_list_of_gradients() -> None:
    with pytest.raises(ValueError, match="empty parameter list"):
        _FunctionalSGD([])
    one, two = torch.ones(1), torch.nn.Parameter(torch.ones(2))
    optimizer = _FunctionalSGD([one, two], 1.0, 0.5)
    optimizer.step([torch.ones(1), None])
    assert one.item() == 0.0 and two.tolist() == [1.0, 1.0] and two.grad is None
    assert list(optimizer.state) == [one] and optimizer.state[one]["momentum_buffer"].item() == 1.0
    with pytest.raises(ValueError, match=r"Params length: 2\. Gradients length: 1"):
        optimizer.step([None])


def test_other_classes_can_be_added(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="does not have a functional counterpart"):
        as_functional_optim(torch.optim.LBFGS)
    monkeypatch.setitem(functional_optim_map, "x", None)  # so that the end of the test takes the class away again
    del functional_optim_map["x"]
    register_functional_optim("x", dict)
    register_functional_optim("x", list)
    assert functional_optim_map["x"] is dict
