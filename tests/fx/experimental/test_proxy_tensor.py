"""Tracing by dispatch.

Mirrors: test/test_proxy_tensor.py
"""

from __future__ import annotations

import pickle
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import fx
from reftorch.fx.experimental.proxy_tensor import DecompositionInterpreter, get_proxy_mode, make_fx
from tests.fx import both


def functions(torch: Any) -> dict[str, Any]:
    F = torch.nn.functional
    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.GELU(), torch.nn.LayerNorm(2))

    def pointwise(x, y):  # type: ignore[no-untyped-def]
        return torch.exp(x) * y + (x > 0) - 2

    def in_place(x, y):  # type: ignore[no-untyped-def]
        a = x + 1
        a.mul_(y)
        view = a[0]
        view.zero_()
        return a.sum(), [view, {"y": y}]

    def loop(x, y):  # type: ignore[no-untyped-def]
        for row in x.unbind(0):
            y = y + row
        return F.softmax(y, dim=-1)

    def module(x, y):  # type: ignore[no-untyped-def]
        return net(x) @ y[:, :2].t()

    return {f.__name__: f for f in (pointwise, in_place, loop, module)}


@pytest.mark.parametrize("name", functions(reftorch))
def test_forward_graphs_are_those_of_torch(name: str, real_torch: ModuleType, noted: Any) -> None:
    codes = []
    for library in (reftorch, real_torch):
        trace = __import__(f"{library.__name__}.fx.experimental.proxy_tensor", fromlist=["make_fx"]).make_fx
        x, y = library.arange(6.0).view(2, 3), library.ones(2, 3) * 2
        function = functions(library)[name]
        traced = trace(function)(x, y)
        codes.append(both.plain(traced.code))
        for a, b in zip(both.tensors_in(traced(x, y)), both.tensors_in(function(x, y)), strict=True):
            assert library.equal(a, b)
    assert codes[0] == noted(codes[1])


@pytest.mark.parametrize("several", [False, True])
def test_structures_as_arguments_and_results(several: bool, real_torch: ModuleType, noted: Any) -> None:
    texts = []
    for library in (reftorch, real_torch):
        trace = __import__(f"{library.__name__}.fx.experimental.proxy_tensor", fromlist=["make_fx"]).make_fx

        def function(tree, number, *more):  # type: ignore[no-untyped-def]
            return {"sum": tree["a"] + tree["b"][0] * number, "parts": [tree["a"], more]}

        def two(tree, number):  # type: ignore[no-untyped-def]
            return function(tree, number)

        args = ({"a": library.ones(2), "b": [library.ones(2)]}, 3, *([library.ones(1)] if several else []))
        traced = trace(function if several else two)(*args)
        found = traced({"a": library.full((2,), 2.0), "b": [library.ones(2)]}, *args[1:])
        assert found["sum"].tolist() == [5.0, 5.0] and found["parts"][0].tolist() == [2.0, 2.0]
        readable = traced.print_readable(print_output=False).split("\n", 1)[1]  # without the name of the class
        texts.append(both.plain(traced.code) + both.plain(readable))
    assert texts[0] == noted(texts[1])


def test_results_and_constants_are_noted(real_torch: ModuleType, noted: Any) -> None:
    notes = []
    for library in (reftorch, real_torch):
        trace = __import__(f"{library.__name__}.fx.experimental.proxy_tensor", fromlist=["make_fx"]).make_fx
        weight, parameter = library.ones(3), library.nn.Parameter(library.ones(3))
        graph = trace(lambda x: library.max(x * weight + parameter, 1))(library.ones(2, 3)).graph  # noqa: B023
        notes.append([(n.name, sorted(n.meta), str(n.meta.get("tensor_meta"))) for n in graph.nodes])
        assert [type(n.meta["val"]) for n in graph.nodes if n.name == "max_1"] == [tuple]
    assert str(notes[0]).replace("reftorch", "torch") == noted(str(notes[1]).replace("reftorch", "torch"))


def test_control_flow_is_that_of_the_inputs() -> None:
    traced = make_fx(lambda x: x.relu() if len(x) > 1 else -x)(reftorch.ones(2))
    assert traced.graph.find_nodes(op="call_function", target=reftorch.ops.aten.relu.default)
    assert reftorch.equal(traced(reftorch.tensor([-1.0, 0.5])), reftorch.tensor([0.0, 0.5]))


def gradient(torch: Any) -> Any:
    def run(x, w):  # type: ignore[no-untyped-def]
        h = torch.relu(x @ w)
        y = torch.exp(h) * h
        z = y.tanh() * 1
        z.add_(1)
        return torch.autograd.grad((z * y).mean(), (x, w))

    return run


def test_a_backward_pass_is_in_the_graph(real_torch: ModuleType, noted: Any) -> None:
    ops = []
    for library in (reftorch, real_torch):
        trace = __import__(f"{library.__name__}.fx.experimental.proxy_tensor", fromlist=["make_fx"]).make_fx
        x, w = library.ones(2, 3, requires_grad=True), library.ones(3, 2, requires_grad=True)
        traced = trace(gradient(library))(x, w)
        ops.append(sorted(str(n.target) for n in traced.graph.nodes if n.op == "call_function"))
        x, w = library.arange(6.0).view(2, 3) / 9, library.arange(6.0).view(3, 2) / 9
        expected = gradient(library)(x.clone().requires_grad_(), w.clone().requires_grad_())
        for a, b in zip(traced(x, w), expected, strict=True):
            assert library.equal(a, b)
    # PyTorch divides the gradient of mean by a number through another overload.
    assert ops[0] == noted([op.replace("div.Scalar", "div.Tensor") for op in ops[1]])


def test_nothing_is_computed_on_the_meta_device() -> None:
    traced = make_fx(lambda x: (x @ x.t()).relu(), tracing_mode="fake")(reftorch.ones(2, 3))
    shapes = [tuple(n.meta["val"].shape) for n in traced.graph.nodes if "val" in n.meta]
    assert shapes == [(2, 3), (3, 2), (2, 2), (2, 2)]
    assert reftorch.equal(traced(reftorch.ones(2, 3)), reftorch.full((2, 2), 3.0))
    with pytest.raises(RuntimeError):
        make_fx(lambda x: x if x.sum() > 0 else -x, tracing_mode="fake")(reftorch.ones(2))
    with pytest.raises(ValueError, match="tracing_mode must be 'real' or 'fake', got 'symbolic'"):
        make_fx(lambda x: x, tracing_mode="symbolic")


def test_parameters_and_other_tensors_are_constants() -> None:
    net, other = reftorch.nn.Linear(2, 2), reftorch.ones(2)
    traced = make_fx(lambda x: net(x) + other + other)(reftorch.ones(1, 2))
    assert sorted(n.target for n in traced.graph.find_nodes(op="get_attr")) == [
        "_param_constant0",
        "_param_constant1",
        "_tensor_constant0",
        "_tensor_constant0",
    ]
    assert traced._param_constant0 is net.weight and traced._tensor_constant0 is other


def test_a_constant_keeps_its_value() -> None:
    def program(x):  # type: ignore[no-untyped-def]
        constant = reftorch.tensor([1.0])
        constant.add_(x)
        return constant

    traced = make_fx(program)(reftorch.ones(1))
    for _ in range(2):
        assert reftorch.equal(traced(reftorch.ones(1)), reftorch.tensor([2.0]))


def test_decompositions() -> None:
    aten = reftorch.ops.aten
    table = {aten.tanh.default: lambda x: (x.exp() - (-x).exp()) / (x.exp() + (-x).exp())}
    x = reftorch.tensor([0.5, -1.0])
    traced = make_fx(lambda x: x.tanh(), table)(x)
    assert aten.tanh.default not in {n.target for n in traced.graph.nodes}
    assert reftorch.allclose(traced(x), x.tanh())
    graph = fx.Graph()
    first = make_fx(lambda x: x.tanh() + 1)(x)
    DecompositionInterpreter(first, graph, table).run(x)
    second = fx.GraphModule(first, graph)
    assert aten.exp.default in {n.target for n in graph.nodes}
    assert reftorch.allclose(second(x), x.tanh() + 1)


def test_the_mode_is_known_inside() -> None:
    seen = []
    make_fx(lambda x: seen.append(get_proxy_mode()) or x + 1)(reftorch.ones(1))
    assert seen[0] is not None and get_proxy_mode() is None


def test_graphs_of_ops_are_pickled_and_traced_again() -> None:
    traced = make_fx(lambda x: x.relu().sum(0))(reftorch.ones(2, 2))
    copied = pickle.loads(pickle.dumps(traced))
    assert [str(n.target) for n in copied.graph.nodes] == [str(n.target) for n in traced.graph.nodes]


def data_dependent(torch: Any) -> dict[str, Any]:
    """Functions that read a number: of an input, of a factory, of a constant."""

    outside = torch.ones(())

    def branch(x):  # type: ignore[no-untyped-def]
        return x + 1 if x.sum() > 0 else x - 1

    def item(x):  # type: ignore[no-untyped-def]
        return x * x.sum().item()

    def factory(x):  # type: ignore[no-untyped-def]
        return x * torch.rand(()).item()

    def written(x):  # type: ignore[no-untyped-def]
        constant = torch.tensor(2.0)
        constant.add_(x.sum())
        return x * constant.item()

    def constant(x):  # type: ignore[no-untyped-def]
        return x * (torch.tensor(2.0) + 1).item()

    def from_outside(x):  # type: ignore[no-untyped-def]
        return x * outside.item()

    return {f.__name__: f for f in (branch, item, factory, written, constant, from_outside)}


@pytest.mark.parametrize("name", data_dependent(reftorch))
def test_a_number_that_depends_on_the_input_is_an_error(name: str, real_torch: ModuleType, noted: Any) -> None:
    their_make_fx = __import__(f"{real_torch.__name__}.fx.experimental.proxy_tensor", fromlist=["make_fx"]).make_fx
    answers = []
    for torch, trace in ((reftorch, make_fx), (real_torch, their_make_fx)):
        try:
            answers.append(trace(data_dependent(torch)[name])(torch.ones(3))(torch.ones(3)).tolist())
        except RuntimeError as error:
            answers.append(str(error).split("- erroring out!")[0])
    assert answers[0] == noted(answers[1])
    assert isinstance(answers[0], str) is (name not in ("constant", "from_outside"))
