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


def test_the_call_is_named() -> None:
    torch.manual_seed(0)
    found = find_wrong_gradient(Net(), torch.randn(4, 3))
    assert [(call.name, call.wrong) for call in found.calls] == [
        ("torch.nn.functional.linear", False),  # that of the child, whose weights are measured with the child
        ("Cube.apply", True),
    ]
    assert found.op is not None and found.op.line is not None
    assert found.op.line.source == "return Cube.apply(self.linear(x)) * scale"
    assert found.op.status.startswith("input 0: wrong at [") and "measured" in found.op.status
    assert "calls in 'layer': Cube.apply is wrong" in str(found)
    assert "apply" in vars(torch.autograd.Function) and Cube.apply(torch.ones(1)).item() == 1


class Several(nn.Module):
    """One of these lines is wrong: ``fault`` says which."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault

    def forward(self, x: Any) -> Any:
        gate = torch.sigmoid(x)
        y = x * 2
        y.add_(1)
        if self.fault == "detach":
            gate = gate.detach()
        y = y.cumsum(0)
        if self.fault == "data":
            y = y * x.data
        if self.fault == "function":
            y = Cube.apply(y)
        parts = torch.stack([y, gate]).sum(0).chunk(2)
        return torch.nn.functional.gelu(parts[0], approximate="tanh") + parts[1].exp()[:, :1]


@pytest.mark.parametrize(
    ("fault", "name", "line"),
    [
        ("detach", "torch.Tensor.detach", "gate = gate.detach()"),
        ("data", "torch.Tensor.data", "y = y * x.data"),
        ("function", "Cube.apply", "Cube.apply(y)"),
    ],
)
def test_the_first_wrong_call_of_several(fault: str, name: str, line: str) -> None:
    torch.manual_seed(0)
    found = find_wrong_gradient(nn.Sequential(nn.Linear(3, 4), Several(fault)), torch.randn(6, 3))
    assert found.first is not None and found.first.name == "1"
    assert found.op is not None and found.op.name == name
    assert found.op.line is not None and line in found.op.line.source
    assert [call.name for call in found.calls if call.wrong] == [name], str(found)
    assert {call.status for call in found.calls[:-1]} == {"ok"}, str(found)


class Hooked(nn.Module):
    def forward(self, x: Any) -> Any:
        y = x.sin()
        if y.requires_grad:
            y.register_hook(lambda grad: 2 * grad)
        return y.exp()


def test_a_hook_is_no_wrong_call() -> None:
    torch.manual_seed(0)
    found = find_wrong_gradient(nn.Sequential(nn.Linear(3, 4), Hooked()), torch.randn(6, 3))
    assert found.first is not None and found.first.name == "1" and found.op is None
    assert {call.name: call.status for call in found.calls} == {"torch.Tensor.sin": "ok", "torch.Tensor.exp": "ok"}
    assert "each call in '1' is right alone" in str(found)


def test_a_call_that_leaves_float64_is_not_measured() -> None:
    class Casts(nn.Module):
        def forward(self, x: Any) -> Any:
            return x.to(torch.float32).sign() * Cube.apply(x)

    found = find_wrong_gradient(Casts(), torch.full((2,), 2.0, dtype=torch.float64))
    assert [call.name for call in found.calls] == ["torch.Tensor.to", "torch.Tensor.sign", "Cube.apply"]
    assert found.calls[0].status.startswith("not measured: in float64 it raised RuntimeError: its result is")
    assert found.op is not None and found.op.name == "Cube.apply"


def test_a_right_model() -> None:
    model = nested()
    model.register_buffer("count", torch.zeros(1))
    before = [t.clone() for t in model.state_dict().values()]
    found = find_wrong_gradient(model, numbers())
    assert found.first is None and str(found).startswith("gradients of modules: all ok")
    assert found.op is None and found.calls == []
    assert {row.status for row in found.rows} == {"ok"} and len(found.rows) == 5
    assert all(bool((a == b).all()) for a, b in zip(before, model.state_dict().values(), strict=True))
    assert all(p.grad is None for p in model.parameters())


class WithNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.drop = nn.BatchNorm1d(3), nn.Dropout(0.5)

    def forward(self, x: Any) -> Any:
        return Cube.apply(self.drop(self.norm(x)))


def test_running_averages_and_random_numbers_stay() -> None:
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(2, 3), WithNorm()), torch.randn(5, 2)
    before, state = {name: t.clone() for name, t in model.state_dict().items()}, torch.get_rng_state()
    found = find_wrong_gradient(model, x)
    assert found.op is not None and found.op.name == "Cube.apply"
    assert {call.status for call in found.calls[:-1]} == {"ok"} and len(found.calls) == 3
    assert all(torch.equal(t, before[name]) for name, t in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), state)


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
