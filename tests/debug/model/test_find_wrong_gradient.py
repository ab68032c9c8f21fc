"""The module whose backward is wrong is found, and not those around it.

Mirrors: nothing in PyTorch: gradcheck takes one function.
"""

from __future__ import annotations

from typing import Any

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.debug import find_wrong_gradient
from tests.debug.models import nested, numbers


class Cube(torch.autograd.Function):
    """x^3; its gradient forgets a factor."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad * 3 * x


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x: Any, *, scale: float) -> Any:
        return Cube.apply(self.linear(x)) * scale


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.layer, self.last = nn.Linear(3, 3), Layer(), nn.Linear(3, 2)

    def forward(self, x: Any) -> Any:
        return self.last(self.layer(self.first(x).relu(), scale=0.5))


def test_the_innermost_module_is_named() -> None:
    torch.manual_seed(0)
    found = find_wrong_gradient(Net(), torch.randn(4, 3))
    assert found.first is not None and (found.first.name, found.first.kind) == ("layer", "Layer")
    states = {row.name: row.wrong for row in found.rows}
    assert states == {"layer.linear": False, "first": False, "layer": True, "last": False, "": True}
    assert "wrong at [" in found.first.status and "measured" in found.first.status
    assert str(found).startswith("gradients of modules: 'layer' (Layer) is the innermost module that is wrong")


def test_a_right_model() -> None:
    model = nested()
    model.register_buffer("count", torch.zeros(1))
    before = [t.clone() for t in model.state_dict().values()]
    found = find_wrong_gradient(model, numbers())
    assert found.first is None and str(found).startswith("gradients of modules: all ok")
    assert {row.status for row in found.rows} == {"ok"} and len(found.rows) == 5
    assert all(bool((a == b).all()) for a, b in zip(before, model.state_dict().values(), strict=True))
    assert all(p.grad is None for p in model.parameters())


def test_integers_and_modules_without_gradients() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(5, 3), nn.Flatten(), nn.Linear(6, 2), nn.Identity())
    found = find_wrong_gradient(model, torch.tensor([[1, 2], [0, 4]]))
    assert found.first is None and {row.kind for row in found.rows} >= {"Embedding", "Flatten"}


class Constant(nn.Module):
    """Makes a tensor of float32, whatever the dtype of its input."""

    def forward(self, x: Any) -> Any:
        return nn.functional.linear(x, torch.ones(3, 3))


def test_a_module_that_cannot_be_measured_is_no_fault() -> None:
    found = find_wrong_gradient(nn.Sequential(nn.Linear(3, 3), Constant()), torch.ones(2, 3))
    states = {row.name: row.status for row in found.rows}
    assert found.first is None and states["0"] == "ok"
    assert states["1"].startswith("not measured: its copy in float64 raised RuntimeError: expected m1 and m2")


def test_an_infinite_weight_is_no_wrong_gradient() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
    with torch.no_grad():
        model[1].weight[0, 0] = float("inf")
    found = find_wrong_gradient(model, torch.ones(2, 3))
    assert {row.name: row.status for row in found.rows}["0"] == "ok"
    assert not any("measured nan" in row.status for row in found.rows)


def test_it_takes_a_module() -> None:
    with pytest.raises(TypeError, match="expected a module"):
        find_wrong_gradient(torch.ones(1))
