"""A matcher whose pattern gives names to its nodes.

Mirrors: torch/fx/passes/utils/matcher_with_name_node_map_utils.py

Stays because the quantizers of torchao call ``SubgraphMatcherWithNameNodeMap``.
"""

from __future__ import annotations

from typing import Any

from reftorch.fx.graph import Graph, _PyTreeCodeGen
from reftorch.fx.graph_module import GraphModule
from reftorch.fx.node import Node
from reftorch.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher
from reftorch.utils._pytree import tree_flatten, tree_unflatten

__all__ = ["SubgraphMatcherWithNameNodeMap"]


def _split_to_graph_and_name_node_map(gm: GraphModule) -> tuple[GraphModule, dict[str, Node]]:
    """Remove the last result of a pattern, a dict of nodes by name, from its graph. Return both."""
    output = gm.graph.output_node()
    codegen = gm.graph._codegen
    result: Any = output.args[0]
    if isinstance(codegen, _PyTreeCodeGen) and codegen.pytree_info.out_spec is not None:
        result = tree_unflatten(result, codegen.pytree_info.out_spec)
    if not isinstance(result, tuple):
        raise AssertionError("Expecting the pattern graph to return a tuple")
    if len(result) < 2:
        raise AssertionError("Expecting the pattern graph to have at least two outputs")
    *out, name_node_map = result
    if not isinstance(name_node_map, dict):
        raise AssertionError("Expecting the input graph to have a dict output as the last element")
    leaves, out_spec = tree_flatten(out)
    output.args = (leaves,)
    if isinstance(codegen, _PyTreeCodeGen) and codegen.pytree_info.out_spec is not None:
        codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
    gm.recompile()
    return gm, dict(name_node_map)


class SubgraphMatcherWithNameNodeMap(SubgraphMatcher):
    """Finds a pattern in graphs, and says which node stands for each name that the pattern gives to its nodes.

    PyTorch's matcher takes the graphs of ``torch.export`` only; this one also takes those of ``symbolic_trace``.

    Args:
        pattern_gm: the pattern. Its last result is a dict of nodes by name, which is removed from the graph.
        match_output, match_placeholder, remove_overlapping_matches, ignore_literals: as in
            :class:`~reftorch.fx.passes.utils.matcher_utils.SubgraphMatcher`.

    Raises:
        AssertionError: the pattern does not return a tuple whose last item is a dict.

    Example:
        >>> from reftorch.fx.passes.utils.matcher_with_name_node_map_utils import SubgraphMatcherWithNameNodeMap
        >>> def pattern(x):
        ...     shifted = x + 1
        ...     result = torch.relu(shifted)
        ...     return result, {"inner": shifted, "outer": result}
        >>> matcher = SubgraphMatcherWithNameNodeMap(torch.fx.symbolic_trace(pattern))
        >>> [match] = matcher.match(torch.fx.symbolic_trace(lambda a: torch.relu(a * 2 + 1)).graph)
        >>> match.name_node_map
        {'inner': add, 'outer': relu}

    Mirrors torch/fx/passes/utils/matcher_with_name_node_map_utils.py, ``SubgraphMatcherWithNameNodeMap``.
    """

    def __init__(
        self,
        pattern_gm: GraphModule,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        pattern_gm, self.name_node_map = _split_to_graph_and_name_node_map(pattern_gm)
        super().__init__(pattern_gm.graph, match_output, match_placeholder, remove_overlapping_matches, ignore_literals)

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """Return the places of a graph that look like the pattern; ``name_node_map`` of each is filled."""
        matches = super().match(graph, node_name_match)
        for match in matches:
            match.name_node_map.update({name: match.nodes_map[node] for name, node in self.name_node_map.items()})
        return matches
