"""Running graphs node by node, on values and on proxies.

Mirrors: test/test_fx.py
"""

from __future__ import annotations

import gc
import operator
import weakref
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import fx, nn
from tests.answers.watched import asked
from tests.fx import both

MODELS = both.load("models", reftorch)


@pytest.mark.parametrize("name", MODELS.MODELS)
def test_the_interpreter_computes_what_the_code_computes(name: str) -> None:
    traced = MODELS.trace(name, MODELS.MODELS[name][0]().eval())
    inputs = both.to_tensors(MODELS.example_inputs(name), reftorch)
    if name == "Variadic":  # a placeholder *args takes all inputs, and one ** none
        assert len(fx.Interpreter(traced).run(*inputs)) == 2
        return
    found, expected = both.tensors_in(fx.Interpreter(traced).run(*inputs)), both.tensors_in(traced(*inputs))
    assert len(found) == len(expected) > 0
    assert all(reftorch.equal(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("name", MODELS.MODELS)
def test_the_transformer_keeps_the_code(name: str) -> None:
    traced = MODELS.trace(name, MODELS.MODELS[name][0]())
    transformed = fx.Transformer(traced).transform()
    # PyTorch's Transformer drops annotations too.
    drop = [node for node in traced.graph.nodes if node.type is not None]
    for node in drop:
        node.type = None
    traced.recompile()
    code = [line for line in traced.code.split("\n") if not line.startswith("torch.fx._symbolic_trace.wrap")]
    assert transformed.code.strip() == "\n".join(code).strip()


def test_values_are_dropped_after_their_last_use() -> None:
    alive: list[int] = []
    references: list[Any] = []

    class Watch(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            alive.append(sum(r() is not None for r in references))
            value = super().run_node(n)
            if isinstance(value, reftorch.Tensor) and n.op == "call_function":
                references.append(weakref.ref(value))
            return value

    def program(x: Any) -> Any:
        return reftorch.relu(reftorch.relu(reftorch.relu(x)))

    gc.disable()
    try:
        Watch(fx.symbolic_trace(program)).run(reftorch.ones(2))
    finally:
        gc.enable()
    assert max(alive) == 1


def test_defaults_and_missing_arguments(real_torch: ModuleType) -> None:
    def program(x, y=3):  # type: ignore[no-untyped-def]
        return x + y

    def run(library: Any) -> None:
        interpreter = library.fx.Interpreter(library.fx.symbolic_trace(program))
        assert interpreter.run(1) == 4 and interpreter.run(1, 2) == 3
        with pytest.raises(RuntimeError, match="Expected positional argument for parameter x, but one was not passed"):
            interpreter.run()
        values = [1, 5]
        assert interpreter.boxed_run(values) == 6 and values == []
        with pytest.raises(RuntimeError, match=r"expected 2 arguments for placeholders but received 1 \(missing arg"):
            interpreter.boxed_run([1])

    run(reftorch)
    asked(real_torch, run)


def test_an_error_says_which_node_failed_and_from_which_line() -> None:
    def program(x):  # type: ignore[no-untyped-def]
        x = x + 1
        return x @ x

    with pytest.raises(RuntimeError) as error:
        fx.Interpreter(fx.symbolic_trace(program)).run(reftorch.ones(2, 3))
    message = str(error.value)
    line = program.__code__.co_firstlineno + 2
    assert "While executing %matmul : [num_users=1] = call_function[target=operator.matmul]" in message
    assert message.endswith(f'Original traceback:\nFile "{__file__}", line {line}, in program')


def test_a_key_error_becomes_readable() -> None:
    graph = fx.Graph()
    graph.output(graph.call_function(operator.getitem, (graph.placeholder("x"), "k")))
    with pytest.raises(RuntimeError, match="While executing %getitem"):
        fx.Interpreter(nn.Module(), graph=graph).run({})


def test_unknown_attributes_are_named() -> None:
    graph = fx.Graph()
    graph.output(graph.get_attr("a.b"))
    with pytest.raises(RuntimeError, match="Node referenced nonexistent target a\n"):
        fx.Interpreter(nn.Module(), graph=graph).run()


def test_values_may_be_given_for_nodes() -> None:
    traced = fx.symbolic_trace(lambda x: (x + 1) * 2)
    nodes = list(traced.graph.nodes)
    assert fx.Interpreter(traced).run(initial_env={nodes[1]: 10, nodes[0]: 0}) == 20


def test_a_transformer_keeps_notes_and_lines() -> None:
    class Double(fx.Transformer):
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            return super().call_function(target, args, kwargs) * 2

    def program(x):  # type: ignore[no-untyped-def]
        return x + 1

    traced = fx.symbolic_trace(program)
    traced.graph.find_nodes(op="call_function", target=operator.add)[0].meta["custom"] = {"a": 1}
    transformed = Double(traced).transform()
    assert transformed(1) == 4
    add, mul = (node for node in transformed.graph.nodes if node.op == "call_function")
    line = program.__code__.co_firstlineno + 1
    assert add._place == mul._place == (__file__, line, "program")
    assert add.meta["custom"] == mul.meta["custom"] == {"a": 1}
    assert add.meta["from_node"][0].name == "add"
