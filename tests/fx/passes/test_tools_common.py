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
