"""Adam and AdamW.

Mirrors: test/optim/test_optim.py
Leaves out: ``foreach``, ``fused``, ``capturable`` and ``differentiable``.
"""

import copy
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.optim import Adam, AdamW

OPTIONS: list[dict[str, Any]] = [
    {},
    {"lr": 0.1},
    {"lr": 0.1, "betas": (0.5, 0.7), "eps": 0.01},
    {"lr": 0.1, "weight_decay": 0.5},
    {"lr": 0.1, "amsgrad": True},
    {"lr": 0.1, "maximize": True, "amsgrad": True, "weight_decay": 0.1},
]


def parameters(lib: ModuleType) -> list[Any]:
    return [lib.nn.Parameter(lib.tensor(values)) for values in ([1.0, -2.0], [[0.5], [3.0]])]


def steps(lib: ModuleType, optimizer: Any, a: Any, b: Any, count: int = 6) -> list[float]:
    path = []
    for number in range(count):
        optimizer.zero_grad()
        ((a * a).sum() * (b * b).sum() * (0.1 if number % 2 else -0.05)).backward()
        optimizer.step()
        path += a.tolist() + b.reshape(-1).tolist()
    return path


@pytest.mark.parametrize("name", ["Adam", "AdamW"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_steps_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any], name: str) -> None:
    paths, states = [], []
    for lib in (reftorch, real_torch):
        a, b = parameters(lib)
        unused = lib.nn.Parameter(lib.ones(1))
        optimizer = getattr(lib.optim, name)([{"params": [a, unused]}, {"params": b, "lr": 0.01}], **options)
        paths.append(steps(lib, optimizer, a, b))
        state = optimizer.state_dict()["state"]
        states.append({key: {k: v.reshape(-1).tolist() for k, v in entry.items()} for key, entry in state.items()})
    assert paths[0] == pytest.approx(paths[1], rel=1e-5, abs=1e-6)
    assert states[0].keys() == states[1].keys()
    for key, entry in states[0].items():
        assert list(entry) == list(states[1][key])
        for part, numbers in entry.items():
            assert numbers == pytest.approx(states[1][key][part], rel=1e-5, abs=1e-7)


def test_a_step_by_hand() -> None:
    p = reftorch.nn.Parameter(reftorch.tensor([2.0]))
    p.grad = reftorch.tensor([-5.0])
    optimizer = Adam([p], lr=0.25)
    optimizer.step()  # the first step is the sign of the gradient
    assert p.item() == pytest.approx(2.25)
    assert p.is_leaf and p.requires_grad and optimizer.state[p]["step"].item() == 1.0


def test_the_decay_of_adamw_does_not_depend_on_the_gradient() -> None:
    p = reftorch.nn.Parameter(reftorch.tensor([2.0]))
    p.grad = reftorch.zeros(1)
    AdamW([p], lr=0.1, weight_decay=0.5).step()
    assert p.item() == pytest.approx(2.0 * (1 - 0.1 * 0.5))


@pytest.mark.parametrize("cls", [Adam, AdamW])
@pytest.mark.parametrize("way", ["load", "copy"])
def test_going_on_from_a_state(cls: type, way: str) -> None:
    a, b = parameters(reftorch)
    optimizer = cls([a, b], lr=0.1, amsgrad=True)
    steps(reftorch, optimizer, a, b, 3)
    if way == "load":
        c, d = (reftorch.nn.Parameter(p.detach().clone()) for p in (a, b))
        other = cls([c, d])
        other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    else:
        other = copy.deepcopy(optimizer)
        c, d = other.param_groups[0]["params"]
    assert steps(reftorch, other, c, d, 3) == steps(reftorch, optimizer, a, b, 3)


def test_the_closure_records_and_its_loss_comes_back() -> None:
    p = reftorch.nn.Parameter(reftorch.ones(1))
    optimizer = Adam([p], lr=0.25)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with reftorch.no_grad():
        assert optimizer.step(closure).item() == 1.0
    assert p.item() == pytest.approx(0.75)


ERRORS: list[dict[str, Any]] = [
    {"lr": -1.0},
    {"eps": -1.0},
    {"betas": (1.0, 0.9)},
    {"betas": (0.9, -0.1)},
    {"weight_decay": -0.5},
    {"betas": (0, 0.9)},
]


@pytest.mark.parametrize("options", ERRORS, ids=str)
def test_errors_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    texts = []
    for lib in (reftorch, real_torch):
        with pytest.raises(ValueError) as caught:
            lib.optim.Adam([lib.nn.Parameter(lib.ones(1))], **options)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_options_may_be_tensors(real_torch: ModuleType) -> None:
    paths = []
    for lib in (reftorch, real_torch):
        a, b = parameters(lib)
        optimizer = lib.optim.Adam([a, b], lr=lib.tensor(0.1), betas=(lib.tensor(0.5), lib.tensor(0.75)))
        paths.append(steps(lib, optimizer, a, b))
    assert paths[0] == pytest.approx(paths[1], rel=1e-5, abs=1e-6)
    with pytest.raises(ValueError, match="Tensor lr must be 1-element"):
        Adam(parameters(reftorch), lr=reftorch.ones(2))


def test_training_brings_the_loss_down() -> None:
    reftorch.manual_seed(0)
    nn = reftorch.nn
    net = nn.Sequential(nn.Linear(2, 16), nn.LayerNorm(16), nn.GELU(), nn.Dropout(0.1), nn.Linear(16, 1))
    x = reftorch.randn(64, 2)
    target = (x[:, :1] * x[:, 1:] > 0).float()
    loss_fn, optimizer = nn.BCEWithLogitsLoss(), AdamW(net.parameters(), lr=0.03)
    losses = []
    for _ in range(100):
        optimizer.zero_grad()
        loss = loss_fn(net(x), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
