"""Stochastic gradient descent.

Mirrors: test/optim/test_optim.py
Leaves out: ``foreach``, ``fused`` and ``differentiable``.
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.optim import SGD

OPTIONS: list[dict[str, Any]] = [
    {"lr": 0.1},
    {},
    {"lr": 0.1, "weight_decay": 0.5},
    {"lr": 0.1, "momentum": 0.9},
    {"lr": 0.1, "momentum": 0.9, "dampening": 0.5},
    {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
    {"lr": 0.1, "momentum": 0.5, "maximize": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_steps_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    paths = []
    for lib in (reftorch, real_torch):
        a, b = (lib.nn.Parameter(lib.tensor(values)) for values in ([1.0, -2.0], [[0.5], [3.0]]))
        unused = lib.nn.Parameter(lib.ones(1))
        optimizer = lib.optim.SGD([{"params": [a, unused]}, {"params": b, "lr": 0.01}], **options)
        path = []
        for _ in range(5):
            optimizer.zero_grad()
            ((a * a).sum() * (b * b).sum() * 0.1).backward()
            optimizer.step()
            path += a.tolist() + b.reshape(-1).tolist() + unused.tolist()
        paths.append(path)
    assert paths[0] == pytest.approx(paths[1], rel=1e-5, abs=1e-6)


def test_a_step_by_hand() -> None:
    p = reftorch.nn.Parameter(reftorch.tensor([2.0]))
    optimizer = SGD([p], lr=0.5, momentum=0.5, weight_decay=1.0)
    p.grad = reftorch.tensor([1.0])
    optimizer.step()  # g = 1 + 2, b = 3, p = 2 - 0.5 * 3
    assert p.tolist() == [0.5]
    optimizer.step()  # g = 1 + 0.5, b = 1.5 + 1.5, p = 0.5 - 0.5 * 3
    assert p.tolist() == [-1.0]
    assert optimizer.state[p]["momentum_buffer"].tolist() == [3.0]
    assert p.grad.tolist() == [1.0]


def test_a_step_records_nothing_and_keeps_the_parameter() -> None:
    p = reftorch.nn.Parameter(reftorch.ones(1))
    p.grad = reftorch.ones(1)
    SGD([p], lr=0.1).step()
    assert p.is_leaf
    assert p.requires_grad
    assert p._version == 1


def test_the_closure_records_and_its_loss_comes_back() -> None:
    p = reftorch.nn.Parameter(reftorch.ones(1))
    optimizer = SGD([p], lr=0.25)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with reftorch.no_grad():
        loss = optimizer.step(closure)
    assert loss.item() == 1.0
    assert p.tolist() == [0.5]
    assert optimizer.step() is None


def test_without_momentum_there_is_no_state() -> None:
    p = reftorch.nn.Parameter(reftorch.ones(1))
    p.grad = reftorch.ones(1)
    optimizer = SGD([p], lr=0.1)
    optimizer.step()
    assert not optimizer.state


def test_a_learning_rate_may_be_a_tensor_and_change() -> None:
    p = reftorch.nn.Parameter(reftorch.tensor([1.0]))
    p.grad = reftorch.tensor([1.0])
    optimizer = SGD([p], lr=reftorch.tensor(0.5))
    optimizer.step()
    assert p.tolist() == [0.5]
    optimizer.param_groups[0]["lr"] = 0.25
    optimizer.step()
    assert p.tolist() == [0.25]


def test_options_of_others_in_a_group_do_no_harm() -> None:
    p = reftorch.nn.Parameter(reftorch.tensor([1.0]))
    p.grad = reftorch.tensor([1.0])
    optimizer = SGD([{"params": p, "initial_lr": 3.0}], lr=0.5)
    optimizer.step()
    assert p.tolist() == [0.5]


ERRORS: list[dict[str, Any]] = [
    {"lr": -1.0},
    {"momentum": -0.5},
    {"weight_decay": -0.5},
    {"nesterov": True},
    {"nesterov": True, "momentum": 0.9, "dampening": 0.1},
]


@pytest.mark.parametrize("options", ERRORS, ids=str)
def test_errors_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    texts = []
    for lib in (reftorch, real_torch):
        with pytest.raises(ValueError) as caught:
            lib.optim.SGD([lib.nn.Parameter(lib.ones(1))], **options)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_a_learning_rate_of_several_elements() -> None:
    with pytest.raises(ValueError, match="Tensor lr must be 1-element"):
        SGD([reftorch.nn.Parameter(reftorch.ones(1))], lr=reftorch.ones(2))


def test_training_brings_the_loss_down() -> None:
    reftorch.manual_seed(0)
    net = reftorch.nn.Sequential(reftorch.nn.Linear(2, 16), reftorch.nn.ReLU(), reftorch.nn.Linear(16, 2))
    x = reftorch.randn(64, 2)
    target = (x[:, 0] * x[:, 1] > 0).to(reftorch.int64)
    loss_fn, optimizer = reftorch.nn.CrossEntropyLoss(), SGD(net.parameters(), lr=0.5, momentum=0.9)
    losses = []
    for _ in range(100):
        optimizer.zero_grad()
        loss = loss_fn(net(x), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]
