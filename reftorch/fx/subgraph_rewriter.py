"""Replacing the places of a graph that look like a pattern.

Mirrors: torch/fx/subgraph_rewriter.py
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from reftorch.fx._symbolic_trace import symbolic_trace
from reftorch.fx.graph import Graph
from reftorch.fx.graph_module import GraphModule
from reftorch.fx.node import Node
from reftorch.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher
from reftorch.nn import Module

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


class Match(NamedTuple):
    """A place that was replaced.

    Attributes:
        anchor: the node of the pattern at which the search began.
        nodes_map: maps nodes of the pattern to nodes of the graph.

    Mirrors torch/fx/subgraph_rewriter.py, ``Match``.
    """

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """A place that was replaced, and the nodes that stand there now.

    Attributes:
        anchor: the node of the pattern at which the search began.
        nodes_map: maps nodes of the pattern to nodes of the graph.
        replacements: the new nodes.

    Mirrors torch/fx/subgraph_rewriter.py, ``ReplacedPatterns``.
    """

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


def replace_pattern(
    gm: GraphModule, pattern: Callable[..., Any] | GraphModule, replacement: Callable[..., Any] | GraphModule
) -> list[Match]:
    """Replace every place of a module's graph that looks like a pattern. Places do not overlap.

    The parameters of the pattern stand for any values. The replacement has the same parameters and returns the same
    number of values. Both are traced.

    Args:
        gm: the module, which changes in place.
        pattern: the function or module to look for.
        replacement: the function or module to put there.

    Returns:
        The places that were replaced.

    Raises:
        AssertionError: pattern and replacement have different numbers of parameters or of results.

    Example:
        >>> module = torch.fx.symbolic_trace(lambda x, w: torch.relu(x @ w + 1) + torch.relu(x + 2))
        >>> matches = torch.fx.replace_pattern(module, lambda a, b: torch.relu(a + b), lambda a, b: torch.tanh(a * b))
        >>> print(len(matches), module.code.rstrip())
        2
        def forward(self, x, w):
            matmul = x @ w;  w = None
            mul = matmul * 1;  matmul = None
            tanh = torch.tanh(mul);  mul = None
            mul_1 = x * 2;  x = None
            tanh_1 = torch.tanh(mul_1);  mul_1 = None
            add_2 = tanh + tanh_1;  tanh = tanh_1 = None
            return add_2

    Mirrors torch/fx/subgraph_rewriter.py, ``replace_pattern``.
    """
    return [Match(place.anchor, place.nodes_map) for place in _replace_pattern(gm, pattern, replacement)]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Callable[..., Any] | Graph | GraphModule,
    replacement: Callable[..., Any] | Graph | GraphModule | None = None,
    match_filters: list[Callable[[InternalMatch, Graph, Graph], bool]] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """Replace the places of a module's graph that look like a pattern and that pass all filters.

    Args:
        gm: the module, which changes in place.
        pattern: the function, module or graph to look for.
        replacement: what to put there.
        match_filters: each takes a match, the graph and the pattern's graph, and returns whether to replace the place.
        ignore_literals: whether numbers and the like in the pattern stand for any values.
        replacement_callback: takes a match, the graph and the pattern's graph; returns the graph to put there. It
            takes the place of ``replacement``.
        node_name_match: a node whose name contains this text equals any last node of the pattern.

    Returns:
        The places that were replaced, with their new nodes.

    Example:
        >>> module = torch.fx.symbolic_trace(lambda x: (x + 1) * (x + 2))
        >>> def is_two(match, graph, pattern):
        ...     return match.placeholder_nodes[1] == 2
        >>> places = torch.fx.subgraph_rewriter.replace_pattern_with_filters(
        ...     module, lambda x, y: x + y, lambda x, y: x - y, [is_two])
        >>> places[0].replacements, module(5)
        ([sub], 18)

    Mirrors torch/fx/subgraph_rewriter.py, ``replace_pattern_with_filters``.
    """
    return _replace_pattern(
        gm, pattern, replacement, match_filters, ignore_literals, replacement_callback, node_name_match
    )


def _graph_of(program: Callable[..., Any] | Graph | GraphModule) -> Graph:
    if isinstance(program, GraphModule):
        return program.graph
    return program if isinstance(program, Graph) else symbolic_trace(program).graph


def _replace_pattern(
    gm: GraphModule,
    pattern: Callable[..., Any] | Graph | GraphModule,
    replacement: Callable[..., Any] | Graph | GraphModule | None = None,
    match_filters: list[Callable[[InternalMatch, Graph, Graph], bool]] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    if replacement is None and replacement_callback is None:
        raise AssertionError("Must provide either a replacement GraphModule or a replacement callback")
    graph, pattern_graph = gm.graph, _graph_of(pattern)
    matcher = SubgraphMatcher(pattern_graph, ignore_literals=ignore_literals)
    matches = [
        match
        for match in matcher.match(graph, node_name_match=node_name_match)
        if all(accepts(match, graph, pattern_graph) for accepts in match_filters or [])
    ]
    common_graph = _graph_of(replacement) if replacement is not None else None
    changed: dict[Node, Node] = {}  # nodes that earlier replacements have replaced
    replaced = []
    for match in matches:
        new_graph = replacement_callback(match, graph, pattern_graph) if replacement_callback else common_graph
        assert new_graph is not None
        replaced.append(_replace_match(graph, pattern_graph, new_graph, match, changed))
    gm.recompile()
    if isinstance(replacement, Module):
        _replace_attributes(gm, replacement)
    return replaced


def _replace_match(
    graph: Graph, pattern_graph: Graph, replacement_graph: Graph, match: InternalMatch, changed: dict[Node, Node]
) -> ReplacedPatterns:
    """Put a copy of the replacement at the place of a match, and erase the nodes of the match."""
    placeholders = replacement_graph.find_nodes(op="placeholder")
    if len(match.placeholder_nodes) != len(placeholders):
        raise AssertionError(f"Placeholder count mismatch: {len(match.placeholder_nodes)} vs {len(placeholders)}")
    for pattern_node, node in match.nodes_map.items():
        if pattern_node.op == "placeholder" and isinstance(node, Node):
            match.nodes_map[pattern_node] = changed.get(node, node)
    match.placeholder_nodes = [
        changed.get(node, node) if isinstance(node, Node) else node for node in match.placeholder_nodes
    ]
    val_map: dict[Node, Any] = dict(zip(placeholders, match.placeholder_nodes, strict=True))
    with graph.inserting_before(_insert_point(graph, match)):
        results = graph.graph_copy(replacement_graph, val_map)
    if isinstance(results, Node):
        results = (results,)
    if len(match.returning_nodes) != len(results):
        raise AssertionError(f"Returning nodes count mismatch: {len(match.returning_nodes)} vs {len(results)}")
    for node, result in zip(match.returning_nodes, results, strict=True):
        node.replace_all_uses_with(result)
        changed[node] = result
    for pattern_node in reversed(pattern_graph.nodes):
        if pattern_node.op not in ("placeholder", "output"):
            graph.erase_node(match.nodes_map[pattern_node])
    new_nodes = [node for node in val_map.values() if node not in match.placeholder_nodes]
    return ReplacedPatterns(match.anchors[0], match.nodes_map, new_nodes)


def _insert_point(graph: Graph, match: InternalMatch) -> Node:
    """Return the first user of the results; if there is none, the node after the last node that gives a result."""
    users = {user for node in match.returning_nodes for user in node.users}
    if users:
        return min(users)
    return max(match.returning_nodes).next


def _replace_attributes(gm: GraphModule, replacement: Module) -> None:
    """Give a module the submodules and attributes that the new nodes use, and delete the submodules no longer used."""
    gm.delete_all_unused_submodules()
    if isinstance(replacement, GraphModule):
        replacement.graph.lint()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr") or _try_get_attr(gm, node.target) is not None:
            continue
        attribute = _try_get_attr(replacement, node.target)
        if attribute is None:
            raise RuntimeError(
                'Attempted to create a "',
                node.op,
                f'" node during subgraph rewriting with target {node.target}, but the referenced attribute does not '
                "exist in the replacement GraphModule",
            )
        attribute = copy.deepcopy(attribute)
        if isinstance(attribute, Module):
            gm.add_submodule(node.target, attribute)
        else:
            setattr(gm, node.target, attribute)
    gm.graph.lint()


def _try_get_attr(module: Module, target: str) -> Any:
    path, _, name = target.rpartition(".")
    try:
        return getattr(module.get_submodule(path), name, None)
    except AttributeError:
        return None
