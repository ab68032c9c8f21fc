"""Finding the places of a graph that look like another graph, the pattern.

Mirrors: torch/fx/passes/utils/matcher_utils.py
Leaves out: the log.

Stays because ``fx.subgraph_rewriter`` is made of ``SubgraphMatcher``, and torchao calls the class itself.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from reftorch._ops import OpOverload
from reftorch._tensor import Tensor
from reftorch.fx.graph import Graph
from reftorch.fx.graph_module import _get_attr
from reftorch.fx.node import Node
from reftorch.fx.passes.utils.fuser_utils import validate_partition

__all__ = ["InternalMatch", "SubgraphMatcher"]


@dataclass
class InternalMatch:
    """One place that looks like the pattern.

    Attributes:
        anchors: the nodes of the pattern at which the search began: those whose results only the output uses.
        nodes_map: maps nodes of the pattern to nodes of the graph; a placeholder may map to a number and the like.
        placeholder_nodes: what stands for the placeholders of the pattern, in order.
        returning_nodes: the nodes whose results the pattern returns, in order.
        name_node_map: nodes by the names that a pattern gives them.

    Mirrors torch/fx/passes/utils/matcher_utils.py, ``InternalMatch``.
    """

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)

    def __copy__(self) -> InternalMatch:
        return InternalMatch(
            self.anchors, self.nodes_map.copy(), self.placeholder_nodes.copy(), self.returning_nodes.copy()
        )


class SubgraphMatcher:
    """Finds a pattern in graphs, from the pattern's results backwards.

    Args:
        pattern: the graph to look for.
        match_output: whether the pattern's output must be the graph's output.
        match_placeholder: whether the pattern's placeholders must be placeholders; else they stand for any value.
        remove_overlapping_matches: whether a node can be in one match only; the first one found has it.
        ignore_literals: whether numbers and the like may differ.

    Raises:
        ValueError: the pattern is empty.
        AssertionError: the pattern has a node that no node uses.

    Example:
        >>> from reftorch.fx.passes.utils.matcher_utils import SubgraphMatcher
        >>> pattern = torch.fx.symbolic_trace(lambda a: torch.relu(a) + 1).graph
        >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(torch.relu(x) + 1) + 1).graph
        >>> [list(match.nodes_map.values()) for match in SubgraphMatcher(pattern).match(graph)]
        [[add, relu, x], [add_1, relu_1, add]]

    Mirrors torch/fx/passes/utils/matcher_utils.py, ``SubgraphMatcher``.
    """

    def __init__(
        self,
        pattern: Graph,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if node.op != "output" and not node.is_impure() and not node.users:
                raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")
        self.pattern = pattern
        self.match_output = match_output
        self.match_placeholder = match_placeholder
        self.remove_overlapping_matches = remove_overlapping_matches
        self.ignore_literals = ignore_literals
        self.pattern_placeholder_nodes = pattern.find_nodes(op="placeholder")
        output_node = pattern.output_node()
        self.pattern_returning_nodes = output_node.all_input_nodes
        used_by_output_only = [node for node in output_node.all_input_nodes if len(node.users) == 1]
        self.pattern_anchors = [output_node] if match_output else used_by_output_only

    def _match_attributes(self, pn: Node, gn: Node) -> bool:
        """Return whether both attributes are tensors of one type."""
        if pn.graph.owning_module is None or gn.graph.owning_module is None:
            raise AssertionError("the graphs of attributes must have owning modules")
        pattern_value = _get_attr(pn.graph.owning_module, str(pn.target))
        value = _get_attr(gn.graph.owning_module, str(gn.target))
        if type(pattern_value) is not type(value):
            return False
        if isinstance(pattern_value, Tensor):
            return True
        raise RuntimeError(f"Unsupported type {pattern_value} when matching attributes")

    def _nodes_are_equal(self, pn: Node, gn: Node, node_name_match: str = "") -> bool:
        if not self.match_placeholder and pn.op == "placeholder":
            return True
        if node_name_match and node_name_match in gn.name:
            return True
        if pn.op != gn.op:
            return False
        if pn.op in ("placeholder", "output"):
            return True
        return self._match_attributes(pn, gn) if pn.op == "get_attr" else pn.target == gn.target

    def _match_literals(self, pn: Any, gn: Any, match: InternalMatch) -> bool:
        """Return whether two arguments are equal of which at most one is a node."""
        if isinstance(pn, Node):
            if pn.op != "placeholder":
                return False
            if pn in match.nodes_map:
                return match.nodes_map[pn] == gn
            match.nodes_map[pn] = gn
            return True
        return not isinstance(gn, Node) and type(gn) is type(pn) and gn == pn

    def _match_args(self, pattern_args: Any, args: Any, match: InternalMatch) -> bool:
        if len(pattern_args) != len(args):
            return False
        for pn, gn in zip(pattern_args, args, strict=True):
            if isinstance(pn, Node) and isinstance(gn, Node):
                matched = self._match_nodes(pn, gn, match)
            elif isinstance(pn, (list, tuple)) and isinstance(gn, (list, tuple)):
                matched = self._match_args(pn, gn, match)
            else:
                matched = self._match_literals(pn, gn, match) or self.ignore_literals
            if not matched:
                return False
        return True

    def _match_nodes(self, pn: Node, gn: Node, match: InternalMatch, node_name_match: str = "") -> bool:
        """Match a node and, behind its arguments, all that it uses. A failure may leave entries in ``match``."""
        if pn in match.nodes_map:
            return match.nodes_map[pn] == gn
        if gn in match.nodes_map.values() or not self._nodes_are_equal(pn, gn, node_name_match):
            return False
        match.nodes_map[pn] = gn
        if pn.op == "placeholder":
            return True
        same_form = len(pn.args) == len(gn.args) and list(pn.kwargs) == list(gn.kwargs)
        if same_form:
            return self._match_args([*pn.args, *pn.kwargs.values()], [*gn.args, *gn.kwargs.values()], match)
        if isinstance(pn.target, OpOverload):
            return self._match_args(_all_arguments(pn), _all_arguments(gn), match)
        return False

    def _is_contained(self, nodes_map: dict[Node, Any]) -> bool:
        """Return whether nodes outside use only those nodes whose results the pattern returns."""
        inside = {gn: pn for pn, gn in nodes_map.items() if pn.op != "placeholder"}
        return all(
            user in inside for gn, pn in inside.items() if pn not in self.pattern_returning_nodes for user in gn.users
        )

    def _remove_overlapping_matches(self, matches: list[InternalMatch]) -> list[InternalMatch]:
        taken: set[Node] = set()
        kept = []
        for match in matches:
            nodes = _computing_nodes(match)
            if taken.isdisjoint(nodes):
                kept.append(match)
                taken.update(nodes)
        return kept

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """Return the places of a graph that look like the pattern, in order.

        A place counts if the nodes in it could become one node, and if nodes outside use only the results that the
        pattern returns.

        Args:
            graph: the graph.
            node_name_match: a node whose name contains this text equals any node of the pattern at which a search
                begins.

        Mirrors torch/fx/passes/utils/matcher_utils.py, ``SubgraphMatcher.match``.
        """
        candidates = [
            (anchor, [node for node in graph.nodes if self._nodes_are_equal(anchor, node, node_name_match)])
            for anchor in self.pattern_anchors
        ]
        candidates = [(anchor, nodes) for anchor, nodes in candidates if nodes]
        found: list[InternalMatch] = []

        def search(i: int, match: InternalMatch) -> None:
            """Match the anchors from the i-th on. Each candidate of an anchor starts from a copy of the match."""
            if i == len(candidates):
                match.placeholder_nodes = [match.nodes_map[pn] for pn in self.pattern_placeholder_nodes]
                match.returning_nodes = [match.nodes_map[pn] for pn in self.pattern_returning_nodes]
                found.append(match)
                return
            anchor, nodes = candidates[i]
            for node in nodes:
                attempt = copy.copy(match)
                if self._match_nodes(anchor, node, attempt, node_name_match):
                    search(i + 1, attempt)

        if candidates:
            search(0, InternalMatch(anchors=self.pattern_anchors))
        matches = [
            match
            for match in found
            if self._is_contained(match.nodes_map) and validate_partition(_computing_nodes(match))
        ]
        return self._remove_overlapping_matches(matches) if self.remove_overlapping_matches else matches


def _computing_nodes(match: InternalMatch) -> list[Node]:
    return [gn for pn, gn in match.nodes_map.items() if pn.op not in ("placeholder", "output")]


def _all_arguments(node: Node) -> list[Any]:
    """Return the arguments of a call of an op in the order of its schema, with defaults filled in."""
    assert isinstance(node.target, OpOverload)
    return [
        node.kwargs[argument.name]
        if argument.name in node.kwargs
        else node.args[i]
        if not argument.kwarg_only and i < len(node.args)
        else argument.default_value
        for i, argument in enumerate(node.target._schema.arguments)
    ]
