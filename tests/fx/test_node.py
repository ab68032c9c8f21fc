"""Nodes: arguments and users, order, text.

Mirrors: test/test_fx.py
"""

from __future__ import annotations

import operator
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import fx
from tests.fx import both


def test_users_and_inputs_follow_the_arguments() -> None:
    graph = fx.Graph()
    x, y, z = (graph.placeholder(name) for name in "xyz")
    out = graph.call_function(operator.add, (x, [y, {"k": x}]), {"s": slice(z, None)})
    assert out.all_input_nodes == [x, y, z]
    out.args = (y,)
    assert out.all_input_nodes == [y, z]
    assert not x.users and list(y.users) == list(z.users) == [out]
    out.insert_arg(1, x)
    out.update_arg(0, x)
    out.update_kwarg("s", 1)
    assert out.args == (x, x) and out.kwargs == {"s": 1} and out.all_input_nodes == [x]
    assert not y.users and not z.users and list(x.users) == [out]


def test_arguments_cannot_be_changed_in_place() -> None:
    graph = fx.Graph()
    out = graph.call_function(len, ([graph.placeholder("x")],), {"a": {}})
    for change in (
        lambda: out.args[0].append(1),
        lambda: out.kwargs.update(b=1),
        lambda: operator.setitem(out.kwargs["a"], "b", 1),
    ):
        with pytest.raises(TypeError, match="object does not support mutation"):
            change()


def test_order_follows_moves() -> None:
    graph = fx.Graph()
    a, b, c = (graph.placeholder(name) for name in "abc")
    assert a < b < c and c > a and a <= a
    a.prepend(c)
    assert list(graph.nodes) == [c, a, b] and c < a < b
    b.append(c)
    assert list(graph.nodes) == [a, b, c] == sorted([c, a, b]) and list(reversed(graph.nodes)) == [c, b, a]
    assert a.next is b and b.prev is a
    with pytest.raises(AssertionError, match="Attempting to move a Node into a different Graph"):
        a.prepend(fx.Graph().placeholder("d"))


def test_a_loop_may_erase_and_insert() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    for _ in range(5):
        graph.call_function(operator.neg, (x,))
    seen = []
    for node in graph.nodes:
        seen.append(node.name)
        if node.op == "call_function":
            if len(graph.nodes) > 4:
                graph.erase_node(node.next)
            graph.erase_node(node)
        elif node is x:
            with graph.inserting_after(x):
                graph.placeholder("y")
    assert seen[:3] == ["x", "y", "neg"] and len(graph.nodes) == 2


def nodes(library: ModuleType) -> list[Any]:
    graph = library.fx.Graph()
    x = graph.placeholder("x", type_expr=library.Tensor)
    y = graph.placeholder("y", default_value=3)
    f = library.nn.functional
    made = [x, y, graph.get_attr("a.b", type_expr=list[int])]
    made.append(graph.call_function(library.add, (x, y), {"alpha": 2.5}))
    made.append(graph.call_function(f.softmax, ((x,),), {"dim": -1, "dtype": library.float32}))
    made.append(graph.call_function(getattr, (x, "shape"), type_expr=tuple[int, ...]))
    made.append(graph.call_function(operator.getitem, (made[-1], (slice(None, y), ..., None)), type_expr=int | None))
    made.append(graph.call_method("to", (x, library.device("cpu")), {"memory_format": library.contiguous_format}))
    made.append(graph.call_module("layers.0", ([x, (y,)],), {"d": {"k": x}}, type_expr=library.nn.Linear))
    made.append(graph.call_function(library.ops.aten.add.Tensor, (x, x)))
    made.append(graph.output(made[1:4], type_expr=list[library.Tensor]))  # type: ignore[name-defined]
    return made


def test_the_text_is_that_of_torch(real_torch: ModuleType, noted: Any) -> None:
    for ours, theirs in zip(nodes(reftorch), nodes(real_torch), strict=True):
        assert both.plain(str(ours.format_node())) == noted(both.plain(str(theirs.format_node())))
    ours, theirs = (nodes(library)[0].graph.python_code("self").src for library in (reftorch, real_torch))
    assert both.plain(ours) == noted(both.plain(theirs))


def test_shapes_in_the_text(real_torch: ModuleType, noted: Any) -> None:
    texts = []
    for library in (reftorch, real_torch):
        node = nodes(library)[3]
        node.meta["val"] = library.empty(2, 3, dtype=library.bfloat16)
        texts.append(both.plain(node.format_node(include_tensor_metadata=True)))
    assert texts[0] == noted(texts[1])


def test_impure_nodes_are_those_of_torch(real_torch: ModuleType, noted: Any) -> None:
    found = []
    for library in (reftorch, real_torch):
        graph = library.fx.Graph()
        x = graph.placeholder("x")
        aten = library.ops.aten
        calls = [library.rand, library.relu, library.bernoulli, operator.setitem, operator.add, library._assert]
        calls += [aten.add_.Tensor, aten.add.Tensor, aten.bernoulli.default, aten.relu, aten.relu_]
        found.append([graph.call_function(call, (x,)).is_impure() for call in calls])
        found[-1].append(graph.call_function(aten.bernoulli.default, (x,)).is_impure(impure_random=False))
        found[-1].append(x.is_impure())
    assert found[0] == noted(found[1])


def test_wrong_targets_are_refused_as_by_torch(real_torch: ModuleType, noted: Any) -> None:
    messages = []
    for library in (reftorch, real_torch):
        graph = library.fx.Graph()
        messages.append([])
        for op, target in (("call_function", "relu"), ("call_method", len), ("no_op", "x")):
            with pytest.raises((ValueError, AssertionError)) as error:
                graph.create_node(op, target)
            messages[-1].append(both.plain(str(error.value)))
    assert messages[0] == noted(messages[1])


def test_replacing_uses() -> None:
    graph = fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    a, b = (graph.call_function(operator.add, (x, x)) for _ in range(2))
    assert x.replace_all_uses_with(y, delete_user_cb=lambda user: user is b) == [b]
    assert a.args == (x, x) and b.args == (y, y)
    x.meta["note"] = 1
    x.replace_all_uses_with(y, propagate_meta=True)
    assert not x.users and y.meta == {"note": 1}
    with pytest.raises(AssertionError, match=r"already has \.meta keys"):
        x.replace_all_uses_with(y, propagate_meta=True)


def test_map_arg_needs_a_function() -> None:
    with pytest.raises(AssertionError, match="fn must be a callable"):
        fx.map_arg((), 1)  # type: ignore[arg-type]
