"""The tools for models work on models of PyTorch, with its ops, modules, gradients and generators.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reftorch.debug import (
    check_gradients,
    compare,
    diagnose,
    draw_activations,
    find_nan,
    find_wrong_gradient,
    record_tensors,
    summary,
)


def net(t: Any) -> Any:
    t.manual_seed(0)
    return t.nn.Sequential(t.nn.Linear(2, 8), t.nn.BatchNorm1d(8), t.nn.ReLU(), t.nn.Dropout(0.5), t.nn.Linear(8, 3))


def points(t: Any) -> Any:
    return (t.arange(16.0) * 0.7).sin().reshape(8, 2)


def nan_of(t: Any, run: Callable[[], Any], *model: Any) -> list[Any]:
    with find_nan(*model) as found:
        run()
    assert found.first is not None
    return [found.first.kind, found.first.module, found.first.backward]


def forward_nan(t: Any) -> list[Any]:
    class Log(t.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.log()

    model = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.Hardtanh(-2.0, -1.0), Log())
    return nan_of(t, lambda: model(t.zeros(1, 2)), model)


def backward_nan(t: Any) -> list[Any]:
    return nan_of(t, lambda: t.zeros(2, requires_grad=True).sqrt().sum().backward())


def optimizer_nan(t: Any) -> list[Any]:
    parameter = t.nn.Parameter(t.ones(1))
    parameter.grad = t.tensor([float("inf")])
    return nan_of(t, t.optim.Adam([parameter]).step)


def on_meta(t: Any) -> Any:
    with find_nan() as found:
        t.nn.Linear(2, 2, device="meta")(t.ones(1, 2, device="meta"))
    return found.first, str(found).startswith("nothing was looked at")


def wrong_layer(t: Any) -> Any:
    class Double(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad

    class Layer(t.nn.Module):
        def forward(self, x: Any) -> Any:
            return Double.apply(x)

    found = find_wrong_gradient(t.nn.Sequential(t.nn.Linear(2, 2), Layer(), t.nn.Linear(2, 1)), points(t))
    return found.first.name, found.op.name


def sick(t: Any) -> Any:
    model = net(t)
    model[0].requires_grad_(False)
    found = diagnose(model, (points(t), t.arange(8) % 3), t.nn.functional.cross_entropy, steps=2)
    return [finding.where for finding in found.findings if finding.check == "frozen parameters"]


def healthy(t: Any) -> Any:
    model = t.nn.Sequential(t.nn.Linear(2, 16), t.nn.Tanh(), t.nn.Linear(16, 3))
    found = diagnose(model, (points(t), t.arange(8) % 3), t.nn.functional.cross_entropy)
    return found.ok, found.ran > 8


def recorded(t: Any) -> Any:
    with record_tensors(net(t), gradients=True) as run:
        run.model(points(t)).sum().backward()
    return list(run)


RUNS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "summary": (
        lambda t: str(summary(net(t), points(t))).splitlines()[-1].partition(";")[0],
        "67 parameters, 67 of them trained",
    ),
    "summary, lazy": (lambda t: summary(t.nn.Sequential(t.nn.LazyLinear(3)), points(t)).parameters, 9),
    "check_gradients": (lambda t: check_gradients(net(t), points(t)).ok, True),
    "find_wrong_gradient": (wrong_layer, ("1", "Double.apply")),
    "compare": (lambda t: compare(net(t), net(t), points(t), loss=lambda output: (output**2).sum()).equal, True),
    "compare integers": (
        lambda t: compare({"x": t.tensor([2**62 + 1])}, {"x": t.tensor([2**62])}).first.a,
        2**62 + 1,
    ),
    "find_nan": (forward_nan, ["NaN", "2", ""]),
    "find_nan, backward": (backward_nan, ["Inf", None, "SqrtBackward0"]),
    "find_nan, optimizer": (optimizer_nan, ["NaN", None, ""]),
    "find_nan, meta": (on_meta, (None, True)),
    "diagnose, sick": (sick, ["module '0'"]),
    "diagnose, healthy": (healthy, (True, True)),
    "draw_activations": (
        lambda t: repr(draw_activations(net(t), points(t))).partition(";")[0],
        "[picture] 1 activation",
    ),
    "record_tensors": (
        recorded,
        [f"{n}{k}" for n in ("", "0/", "1/", "2/", "3/", "4/") for k in (("input", "output") if n else ("input",))]
        + [
            "output",
            "4/grad_output",
            "grad_output",
            "3/grad_output",
            "2/grad_output",
            "1/grad_output",
            "0/grad_output",
        ],
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_tool_on_a_model_of_torch(name: str, real_torch: Any, noted: Any) -> None:
    run, wanted = RUNS[name]
    state = real_torch.get_rng_state()
    assert noted(run(real_torch)) == wanted
    assert state.shape == real_torch.get_rng_state().shape


TOOLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "summary": lambda t, model, x: summary(model, x),
    "check_gradients": lambda t, model, x: check_gradients(model, x),
    "find_wrong_gradient": lambda t, model, x: find_wrong_gradient(model, x),
    "compare": lambda t, model, x: compare(model, model, x),
    "draw_activations": lambda t, model, x: draw_activations(model, x),
    "diagnose": lambda t, model, x: diagnose(model, (x, t.arange(8) % 3), t.nn.functional.cross_entropy, steps=1),
}


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_leaves_a_model_of_torch_as_it_was(name: str, real_torch: Any, noted: Any) -> None:
    model, x = net(real_torch), points(real_torch)
    model(x).sum().backward()

    def everything() -> list[Any]:
        tensors = [*model.state_dict().values(), *(p.grad for p in model.parameters()), real_torch.get_rng_state(), x]
        return [t.tolist() for t in tensors] + [t._version for t in model.state_dict().values()]

    before = everything()
    TOOLS[name](real_torch, model, x)
    assert noted(everything() == before)
