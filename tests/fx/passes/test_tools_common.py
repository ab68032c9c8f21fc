"""Orders of nodes, and what nodes call.

Mirrors: test/fx/test_passes.py
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import reftorch


def tools(library: ModuleType) -> Any:
    return __import__(f"{library.__name__}.fx.passes.tools_common", fromlist=["legalize_graph"])


def shuffled(library: ModuleType) -> Any:
    def program(x):  # type: ignore[no-untyped-def]
        a, b = library.relu(x), library.neg(x)
        return (a + b) * b - library.tanh(a)

    module = library.fx.symbolic_trace(program)
    nodes = list(module.graph.nodes)
    for node in (nodes[1], nodes[4], nodes[2]):
        nodes[-1].append(node)
    return module


def test_sorting_gives_the_order_of_torch(real_torch: ModuleType, noted: Any) -> None:
    for sort in ("legalize_graph", "stable_topological_sort"):
        orders = []
        for library in (reftorch, real_torch):
            module = shuffled(library)
            with pytest.raises(RuntimeError):
                module.graph.lint()
            getattr(tools(library), sort)(module)
            module.graph.lint()
            orders.append([node.name for node in module.graph.nodes])
        assert orders[0] == noted(orders[1])


def test_circles_are_found() -> None:
    module = shuffled(reftorch)
    relu, neg = (module.graph.find_nodes(op="call_function", target=f)[0] for f in (reftorch.relu, reftorch.neg))
    relu.args, neg.args = (neg,), (relu,)
    with pytest.raises(RuntimeError, match="Input graph has cycles, unable to add"):
        tools(reftorch).legalize_graph(module)


def test_targets_have_the_names_of_torch(real_torch: ModuleType, noted: Any) -> None:
    names = []
    for library in (reftorch, real_torch):
        nn = library.nn
        module = library.fx.symbolic_trace(nn.Sequential(nn.Linear(1, 1), nn.LayerNorm(1)))
        graph = module.graph
        x = next(iter(graph.nodes))
        made = [graph.call_function(library.relu, (x,)), graph.call_method("relu", (x,))]
        made += graph.find_nodes(op="call_module")
        names.append([tools(library).get_node_target(dict(module.named_modules()), node) for node in made])
        with pytest.raises(AssertionError, match="but found placeholder"):
            tools(library).get_node_target({}, x)
    assert names[0] == noted(names[1])


def test_groups_of_nodes_without_tensors_between_them(real_torch: ModuleType, noted: Any) -> None:
    def program(x):  # type: ignore[no-untyped-def]
        y = x.relu()
        n = y.shape[0]
        return (x.sum() * n).view(1) + y.sum()

    groups = []
    for library in (reftorch, real_torch):
        module = library.fx.symbolic_trace(program)
        shape_prop = __import__(f"{library.__name__}.fx.passes.shape_prop", fromlist=["ShapeProp"])
        shape_prop.ShapeProp(module).propagate(library.ones(2, 2))
        nodes = {node for node in module.graph.nodes if node.op.startswith("call")}
        found = tools(library).FxNetAccFusionsFinder(module, nodes)()
        groups.append(sorted((str(node), sorted(map(str, group))) for node, group in found.items()))
    assert groups[0] == noted(groups[1]) and groups[0]
