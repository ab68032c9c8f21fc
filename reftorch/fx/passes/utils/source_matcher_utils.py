"""Finding the nodes that one function or one layer of the traced program became.

Mirrors: torch/fx/passes/utils/source_matcher_utils.py
Leaves out: the log.

Stays because the quantizers of executorch and torchao call ``get_source_partitions``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from reftorch.fx.graph import Graph
from reftorch.fx.node import Node

__all__ = ["SourcePartition", "check_subgraphs_connected", "get_source_partitions"]


@dataclass
class SourcePartition:
    """The nodes that one call of a function or of a layer became.

    Attributes:
        nodes: the nodes.
        source: the function, or the class of the layer.
        input_nodes: the nodes elsewhere whose results the nodes use.
        output_nodes: those of the nodes whose results are used elsewhere.
        params: those of the nodes that read parameters.

    Mirrors torch/fx/passes/utils/source_matcher_utils.py, ``SourcePartition``.
    """

    nodes: list[Node]
    source: Any
    input_nodes: list[Node] = field(default_factory=list)
    output_nodes: list[Node] = field(default_factory=list)
    params: list[Node] = field(default_factory=list)


def _sources_of(node: Node, wanted: list[Any]) -> Iterator[tuple[Any, str]]:
    """Yield the wanted source that a node was made from, with the name of the call, if there is one."""
    if stack := node.meta.get("source_fn_stack"):
        name, source = stack[-1]
        if source in wanted:
            yield source, name
        return
    if "torch_fn" in node.meta:
        name, function = node.meta["torch_fn"]
        if function.split(".")[1] in wanted:
            yield function.split(".")[1], name
            return
    if node.op == "call_function" and node.meta.get("nn_module_stack"):
        name, cls = list(node.meta["nn_module_stack"].values())[-1]  # the innermost module
        for source in wanted:
            names = (source, f"{source.__module__}.{source.__qualname__}") if isinstance(source, type) else (source,)
            if cls in names or (isinstance(cls, type) and isinstance(source, type) and issubclass(cls, source)):
                yield source, name
                return


def _partition(nodes: list[Node], source: Any) -> SourcePartition:
    inside = set(nodes)
    used = [arg for node in nodes for arg in node.args if isinstance(arg, Node)]
    inputs = [arg for arg in used if arg not in inside and arg.op != "get_attr"]
    outputs = [node for node in nodes if node.op != "get_attr" and not inside.issuperset(node.users)]
    params = [node for node in nodes if node.op == "get_attr"]
    return SourcePartition(nodes, source, list(dict.fromkeys(inputs)), outputs, params)


def get_source_partitions(
    graph: Graph, wanted_sources: list[Any], filter_fn: Callable[[Node], bool] | None = None
) -> dict[Any, list[SourcePartition]]:
    """Return the nodes that calls of functions or layers became, a :class:`SourcePartition` for each call.

    The source of a node is what its notes say: ``source_fn_stack``, ``torch_fn``, or ``nn_module_stack``, which the
    tracer writes for the nodes of the modules that it enters.

    Args:
        graph: the graph.
        wanted_sources: functions, and classes of layers.
        filter_fn: leaves out the calls of which it returns False for a node.

    Example:
        >>> from reftorch.fx.passes.utils.source_matcher_utils import get_source_partitions
        >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1)).graph
        >>> for node in graph.nodes:
        ...     node.meta["source_fn_stack"] = [(node.name, node.target)]
        >>> [partition] = get_source_partitions(graph, [torch.relu])[torch.relu]
        >>> partition.nodes, partition.input_nodes, partition.output_nodes
        ([relu], [add], [relu])

    Mirrors torch/fx/passes/utils/source_matcher_utils.py, ``get_source_partitions``.
    """
    calls: dict[Any, dict[str, list[Node]]] = {}
    for node in graph.nodes:
        for source, name in _sources_of(node, wanted_sources):
            calls.setdefault(source, {}).setdefault(name, []).append(node)
    return {
        source: [
            _partition(nodes, source)
            for nodes in by_name.values()
            if filter_fn is None or all(filter_fn(node) for node in nodes)
        ]
        for source, by_name in calls.items()
    }


def check_subgraphs_connected(subgraph1: SourcePartition, subgraph2: SourcePartition) -> bool:
    """Return whether a node of the second partition uses a result of the first one.

    Mirrors torch/fx/passes/utils/source_matcher_utils.py, ``check_subgraphs_connected``.
    """
    return any(user in subgraph2.nodes for node in subgraph1.nodes for user in node.users)
