"""Orders of nodes, and whether a set of nodes can become one node.

Mirrors: torch/fx/passes/utils/fuser_utils.py
Leaves out: fusing partitions into submodules, which ``split_module`` does.

Stays because ``utils.matcher_utils`` needs both functions.
"""

from __future__ import annotations

import heapq

from reftorch.fx.node import Node

__all__ = ["topo_sort", "validate_partition"]


def topo_sort(nodes: list[Node]) -> list[Node]:
    """Return nodes in an order in which each comes after those that it uses; otherwise their order stays.

    Raises:
        AssertionError: nodes use each other in a circle.

    Example:
        >>> from reftorch.fx.passes.utils.fuser_utils import topo_sort
        >>> nodes = list(torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1).graph.nodes)
        >>> topo_sort([nodes[2], nodes[0], nodes[1]])
        [x, relu, add]

    Mirrors torch/fx/passes/utils/fuser_utils.py, ``topo_sort``.
    """
    position = {node: i for i, node in enumerate(nodes)}
    missing = {node: sum(used in position for used in node.all_input_nodes) for node in nodes}
    ready = [position[node] for node in nodes if not missing[node]]
    heapq.heapify(ready)
    result: list[Node] = []
    while ready:
        node = nodes[heapq.heappop(ready)]
        result.append(node)
        for user in node.users:
            if user in missing:
                missing[user] -= 1
                if not missing[user]:
                    heapq.heappush(ready, position[user])
    if len(result) != len(nodes):
        raise AssertionError("topological sorted nodes doesn't have same length as input nodes")
    return result


def validate_partition(partition: list[Node]) -> bool:
    """Return whether nodes can become one node: no path leads from them to another node and back to them.

    Example:
        >>> from reftorch.fx.passes.utils.fuser_utils import validate_partition
        >>> x, relu, neg, add, out = torch.fx.symbolic_trace(lambda x: torch.neg(torch.relu(x)) + 1).graph.nodes
        >>> validate_partition([relu, neg]), validate_partition([relu, add])
        (True, False)

    Mirrors torch/fx/passes/utils/fuser_utils.py, ``validate_partition``.
    """
    inside = set(partition)
    waiting = [user for node in partition for user in node.users if user not in inside]
    seen: set[Node] = set()
    while waiting:
        node = waiting.pop()
        if node in inside:
            return False
        if node not in seen:
            seen.add(node)
            waiting += node.users
    return True
