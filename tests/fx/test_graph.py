"""Graphs: insertion, copies, code, checks.

Mirrors: test/test_fx.py
"""

from __future__ import annotations

import copy
import operator
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import fx, nn
from tests.fx import both


def names(graph: fx.Graph) -> list[str]:
    return [node.name for node in graph.nodes]


def test_names_are_those_of_torch(real_torch: ModuleType) -> None:
    candidates = ["add", "add", "add_1", "0", "a.b", "sum", "class", "torch", "x_3", "x", "x", "", "a-b", "A", "inf"]
    ours, theirs = (library.fx.graph._Namespace() for library in (reftorch, real_torch))
    assert [ours.create_name(c, None) for c in candidates] == [theirs.create_name(c, None) for c in candidates]


def test_insertion_points() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    out = graph.output(x)
    with graph.inserting_before(out):
        a = graph.call_function(operator.neg, (x,), name="a")
        with graph.inserting_after(x):
            graph.call_function(operator.neg, (x,), name="b")
        graph.call_function(operator.neg, (x,), name="c")
    with graph.inserting_after():
        graph.call_function(operator.neg, (x,), name="last")
    with graph.inserting_before():
        graph.placeholder("first")
    assert names(graph) == ["first", "x", "b", "a", "c", "output", "last"]
    for insert in (graph.inserting_before, graph.inserting_after):
        with pytest.raises(AssertionError, match="is not in graph"):
            insert(fx.Graph().placeholder("y"))
    graph.inserting_before(a)  # without `with`, for good
    graph.placeholder("d")
    assert names(graph)[3] == "d"


def test_erasing() -> None:
    graph, other = fx.Graph(), fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_function(operator.neg, (x,))
    with pytest.raises(RuntimeError, match="Tried to erase Node x but it still had 1 users in the graph"):
        graph.erase_node(x)
    with pytest.raises(RuntimeError, match="Attempting to remove neg from wrong graph!"):
        other.erase_node(y)
    graph.erase_node(y)
    assert not x.users and y.args == (None,) and len(graph.nodes) == 1
    with pytest.warns(UserWarning, match="on an already erased node"):
        graph.erase_node(y)


def test_the_code_of_everything(real_torch: ModuleType, noted: Any) -> None:
    texts = []
    for library in (reftorch, real_torch):
        graph = library.fx.Graph()
        x = graph.placeholder("x", type_expr=library.Tensor)
        graph.placeholder("*args")
        n = graph.placeholder("class", default_value=float("inf"))
        unused = graph.call_function(library.relu, (x,), type_expr=library.Tensor)
        for name in ("iadd", "setitem", "eq", "neg", "matmul", "getitem", "or_"):
            operands = {"neg": (x,), "setitem": (x, 0, n)}.get(name, (x, n))
            graph.call_function(getattr(operator, name), operands)
        graph.call_function(getattr, (x, "a b"))
        graph.call_function(getattr, (x, "T", None))
        graph.call_function(sum, ([x, 1, "s", None, library.int64, library.device("cpu"), slice(n, None)],))
        graph.get_attr("a.0.b")
        graph.call_module("layers.0", (x,), {"k": (x,), "d": {"x": x, 1: 2}})
        graph.call_method("sum", (x,), {"dim": [0, 1]}, type_expr=list[library.Tensor])
        graph.output({"x": x, "l": [n, unused]}, type_expr=dict[str, library.Tensor])
        code = graph.python_code("self")
        expanded = graph.python_code("self", expanded_def=True, colored=True, verbose=True)
        texts.append((both.plain(code.src), both.plain(expanded.src), code._lineno_map, code._prologue_start))
        texts[-1] += (sorted(code.globals),)
    assert texts[0] == noted(texts[1])


def test_lines_know_their_nodes() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_function(operator.neg, (x,))
    graph.output(y)
    code = graph.python_code("self")
    lines = code.src.split("\n")
    assert code._lineno_map is not None
    for line, position in code._lineno_map.items():
        text = lines[line + code._prologue_start - 1]
        if position == 1:
            assert text.strip() == "neg = -x;  x = None"
        if position == 2 and text.strip():
            assert text.strip() == "return neg"
    assert lines[code._prologue_start - 1] == "def forward(self, x):"


def test_copies() -> None:
    traced = fx.symbolic_trace(lambda x, y=2: {"a": [x + y, x]})
    graph = copy.deepcopy(traced.graph)
    assert str(graph) == str(traced.graph)
    assert not set(graph.nodes) & set(traced.graph.nodes)
    graph.lint()
    target = fx.Graph()
    inputs = {node: target.placeholder(node.name.upper()) for node in traced.graph.find_nodes(op="placeholder")}
    result = target.graph_copy(traced.graph, inputs)
    target.output(result)
    assert names(target) == ["x", "y", "add", "output"] and [n.target for n in target.nodes][:2] == ["X", "Y"]
    assert result == {"a": [target.find_nodes(op="call_function", target=operator.add)[0], inputs[next(iter(inputs))]]}


def test_a_long_chain_is_copied_without_recursion() -> None:
    def program(x: Any) -> Any:
        for _ in range(3000):
            x = x + 1
        return x

    traced = fx.symbolic_trace(program)
    copied = copy.deepcopy(traced)
    assert copied(1) == 3001
    assert copied.graph.eliminate_dead_code() is False


def test_lint_says_what_torch_says(real_torch: ModuleType, noted: Any) -> None:
    messages = []
    for library in (reftorch, real_torch):
        found = []

        def complain(graph: Any) -> None:
            with pytest.raises((RuntimeError, ValueError)) as error:
                graph.lint()
            found.append(both.plain(str(error.value)))  # noqa: B023

        graph = library.fx.Graph()
        x = graph.placeholder("x")
        with graph.inserting_before(x):
            graph.call_function(library.relu, (x,))
        complain(graph)
        graph = library.fx.Graph()
        graph.call_function(library.relu, (x,))
        complain(graph)
        graph = library.fx.Graph()
        graph.placeholder("x").op = "no_op"
        complain(graph)
        graph = library.fx.Graph()
        graph.placeholder("x"), graph.placeholder("y")
        list(graph.nodes)[1].name = "x"
        complain(graph)
        for op, target in (("call_module", "0.1"), ("get_attr", "weight"), ("call_module", "bias")):
            module = library.fx.symbolic_trace(library.nn.Sequential(library.nn.ReLU()))
            module.bias = library.nn.Parameter(library.ones(1))
            with module.graph.inserting_before(module.graph.output_node()):
                node = module.graph.create_node("get_attr", "0")
            node.op, node.target = op, target
            complain(module.graph)
        messages.append(found)
    assert messages[0] == noted(messages[1])


def test_dead_code_goes_and_side_effects_stay() -> None:
    def program(x: Any) -> Any:
        unused = x + 1
        unused = unused * 2
        reftorch._assert(x.sum() > 0, "the sum must be positive")
        reftorch.rand(2)
        return x - 1

    traced = fx.symbolic_trace(program)
    assert traced.graph.eliminate_dead_code() is True
    assert names(traced.graph) == ["x", "sum_1", "gt", "_assert", "sub", "output"]
    assert traced.graph.eliminate_dead_code(is_impure_node=lambda node: node.op == "placeholder" or node.op == "output")
    assert names(traced.graph) == ["x", "sub", "output"]


def test_warnings_of_targets_that_do_not_exist() -> None:
    module = fx.symbolic_trace(nn.Sequential(nn.ReLU()))
    with pytest.warns(UserWarning, match="Attempted to insert a get_attr Node with no underlying reference"):
        module.graph.get_attr("missing")
    with pytest.raises(AttributeError):
        module.graph.call_module("missing")


def test_codegen_can_be_replaced(real_torch: ModuleType, noted: Any) -> None:
    codes = []
    for library in (reftorch, real_torch):

        class TakesList(library.fx.CodeGen):  # type: ignore[misc, name-defined]
            def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
                head = f"def forward(self, args_list: List[torch.Tensor]){maybe_return_annotation}:"
                return f"{head}\n    {', '.join(free_vars)}, = args_list"

            def additional_globals(self) -> list[tuple[str, Any]]:
                return [("List", list)]

            def process_inputs(self, *inputs: Any) -> Any:
                assert len(inputs) == 1
                return inputs[0]

        module = library.fx.symbolic_trace(lambda a, b: a + b)
        module.graph.set_codegen(TakesList())
        module.recompile()
        assert module([1, 2]) == 3 == library.fx.Interpreter(module).run([1, 2])
        codes.append(module.code)
    assert codes[0] == noted(codes[1])


def test_transformers_of_code_nest() -> None:
    module = fx.symbolic_trace(lambda x: x + 1)
    graph = module.graph
    with graph.on_generate_code(lambda _: lambda body: ["a = 1\n", *body]):
        with graph.on_generate_code(lambda outer: lambda body: ["b = 2\n", *outer(body)]):  # type: ignore[misc]
            module.recompile()
            assert module.code.split()[3:9] == ["b", "=", "2", "a", "=", "1"]
        module.recompile()
        assert "b = 2" not in module.code and "a = 1" in module.code
    module.recompile()
    assert "a = 1" not in module.code and module(1) == 2


def test_find_nodes_needs_a_function() -> None:
    with pytest.raises(AssertionError, match="target must not be None for call_function op"):
        fx.Graph().find_nodes(op="call_function")


def test_nodes_that_read_sizes_strides_and_offsets_follow_the_tensor(real_torch: ModuleType, noted: Any) -> None:
    found = []
    for library in (reftorch, real_torch):
        graph = library.fx.Graph()
        x = graph.placeholder("x")
        x.meta["val"] = library.ones(4, 6)[1:, ::2]
        made = [graph.create_size_node(x, 1), graph.create_stride_node(x, 0), graph.create_storage_offset_node(x)]
        notes = [node.meta["val"] for node in made]
        graph.output(tuple(made))
        module = library.fx.GraphModule({}, graph)
        found.append((notes, module(library.ones(5, 7)[2:, 1:])))
        assert graph.materialize_symints([3, 4]) == [3, 4] and graph.materialize_symint(5) == 5
    assert found[0] == noted(found[1]) == ([3, 6, 6], (6, 7, 15))
    with pytest.raises(TypeError, match="expected integers, got str"):
        fx.Graph().materialize_symint("s0")  # type: ignore[arg-type]


def test_marks_for_the_profiler_name_the_nodes() -> None:
    module = fx.symbolic_trace(lambda x: reftorch.relu(x + 1))
    code = module.graph.python_code("self", record_func=True)
    plain = module.graph.python_code("self")
    assert [line for line in code.src.split("\n") if "_rf_" not in line] == plain.src.split("\n")
    scope = dict(code.globals)
    exec(code.src, scope)
    with reftorch.autograd.profiler.profile() as prof:
        scope["forward"](module, reftorch.ones(2))
    marks = [event for event in prof.function_events if event.name.startswith("##")]
    inside = [(mark.name, [child.name for child in mark.cpu_children]) for mark in marks]
    assert inside == [("## 1 ##", ["aten::add"]), ("## 2 ##", ["aten::relu"])]
