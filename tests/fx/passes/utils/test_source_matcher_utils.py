"""The nodes that one call became.

Mirrors: test/fx/test_source_matcher_utils.py
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import reftorch
from tests.answers.watched import asked


def partitions(library: ModuleType) -> Any:
    """What is found in a graph whose nodes have notes of each kind, as names."""
    utils = __import__(f"{library.__name__}.fx.passes.utils.source_matcher_utils", fromlist=["x"])
    nn = library.nn
    graph = library.fx.Graph()
    x = graph.placeholder("x")
    weight = graph.get_attr("weight")
    product = graph.call_function(library.mul, (x, weight))
    shifted = graph.call_function(library.add, (product, 1))
    cut = graph.call_function(library.relu, (shifted,))
    wave = graph.call_function(library.sin, (cut,))
    graph.output((wave, shifted))
    for node in (weight, product, shifted):
        node.meta["source_fn_stack"] = [("outer", nn.Module), ("layer", nn.Linear)]
    cut.meta["torch_fn"] = ("relu_1", "builtin_function_or_method.relu")
    wave.meta["nn_module_stack"] = {"wave": ("wave", nn.ReLU6)}
    wanted = [nn.Linear, "relu", nn.Hardtanh]

    def found(filter_fn: Any = None) -> Any:
        return {
            str(source).split(".")[-1]: [
                [sorted(map(str, part)) for part in (p.nodes, p.input_nodes, p.output_nodes, p.params)] for p in parts
            ]
            for source, parts in utils.get_source_partitions(graph, wanted, filter_fn).items()
        }

    parts = utils.get_source_partitions(graph, wanted)
    [linear], [relu], [sin] = (parts[source] for source in wanted)
    connected = [utils.check_subgraphs_connected(a, b) for a, b in ((linear, relu), (relu, linear), (linear, sin))]
    return found(), found(lambda node: node.op != "get_attr"), connected


def test_partitions_are_those_of_torch(real_torch: ModuleType) -> None:
    ours = partitions(reftorch)
    assert ours == asked(real_torch, partitions)
    assert ours[0]["Linear'>"] == [[["add", "mul", "weight"], ["x"], ["add"], ["weight"]]]
    assert ours[1]["Linear'>"] == [] and ours[2] == [True, False, False]
