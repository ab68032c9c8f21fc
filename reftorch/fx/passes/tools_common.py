"""What passes share: orders of nodes, and names of what nodes call.

Mirrors: torch/fx/passes/tools_common.py
Leaves out: groups of nodes for an accelerator (``FxNetAccFusionsFinder``).

Stays because OpenVINO reads ``CALLABLE_NODE_OPS``, and programs that rewrite a graph call ``legalize_graph``.
"""

from __future__ import annotations

import collections
import heapq
import operator
from collections.abc import Callable, Mapping
from typing import Any

from reftorch._tensor import Tensor
from reftorch.fx.graph import Graph
from reftorch.fx.graph_module import GraphModule
from reftorch.fx.node import Node, _get_qualified_name, _torch_name
from reftorch.nn import Module

__all__ = [
    "get_acc_ops_name",
    "get_node_target",
    "is_node_output_tensor",
    "legalize_graph",
    "stable_topological_sort",
]

Tensors = tuple[Tensor] | list[Tensor]
TensorOrTensors = Tensor | Tensors
NodeList = list[Node]
NodeSet = set[Node]
Names = list[str]
CALLABLE_NODE_OPS = {"call_module", "call_function", "call_method"}

# legalize_graph runs these at once where they can run, before other nodes that can.
_PRIORITIZED_OPS = tuple(
    getattr(operator, name)
    for name in ("add", "mul", "sub", "floordiv", "truediv", "mod", "le", "lt", "ge", "gt", "eq", "ne")
)


def get_acc_ops_name(k: Any) -> str:
    """Return the name of a class or function with its module; a string stays as it is.

    Mirrors torch/fx/passes/tools_common.py, ``get_acc_ops_name``.
    """
    if isinstance(k, str):
        return k
    if k.__module__ and "acc_ops" in k.__module__:
        return f"acc_ops.{k.__name__}"
    return f"{_torch_name(k.__module__) if k.__module__ else ''}.{k.__name__}"


def get_node_target(submodules: Mapping[str, Module], node: Node) -> str:
    """Return the name of what a node calls: of a function, of a method, or of the class of a module.

    Args:
        submodules: the modules by path.
        node: a node that calls something.

    Raises:
        AssertionError: the node calls nothing.

    Example:
        >>> module = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
        >>> node = module.graph.find_nodes(op="call_module")[0]
        >>> torch.fx.passes.tools_common.get_node_target(dict(module.named_modules()), node)
        'torch.nn.modules.activation.ReLU'

    Mirrors torch/fx/passes/tools_common.py, ``get_node_target``.
    """
    if node.op not in CALLABLE_NODE_OPS:
        raise AssertionError(f"Expect op types of {', '.join(sorted(CALLABLE_NODE_OPS))}, but found {node.op}")
    target: Any = node.target
    if node.op == "call_module":
        return get_acc_ops_name(getattr(submodules[target], "_base_class_origin", type(submodules[target])))
    if node.op == "call_function":
        in_acc_ops = target.__module__ is not None and "acc_ops" in target.__module__
        return f"acc_ops.{target.__name__}" if in_acc_ops else _get_qualified_name(target)
    return target


def is_node_output_tensor(node: Node) -> bool:
    """Return whether the result of a node is a tensor, as ``ShapeProp`` has noted.

    Mirrors torch/fx/passes/tools_common.py, ``is_node_output_tensor``.
    """
    cls = node.meta.get("type", None)
    return cls is not None and issubclass(cls, Tensor)


def _sort(gm: GraphModule, ready: Any, take: Callable[[Any, Node], None], pop: Callable[[Any], Node]) -> GraphModule:
    """Give a module a copy of its graph in which each node comes after those that it uses.

    Args:
        gm: the module.
        ready: an empty container of the nodes that have all they need.
        take, pop: put a node into the container, and take the next one out.
    """
    missing = {node: len(node.all_input_nodes) for node in gm.graph.nodes}
    for node, count in missing.items():
        if not count:
            take(ready, node)
    new_graph = Graph(tracer_cls=gm.graph._tracer_cls)
    env: dict[Node, Node] = {}
    while ready:
        node = pop(ready)
        env[node] = new_graph.node_copy(node, lambda n: env[n])
        for user in node.users:
            missing[user] -= 1
            if not missing[user]:
                take(ready, user)
    if len(env) < len(missing):
        raise RuntimeError(f"Input graph has cycles, unable to add {[node for node in missing if missing[node]]}")
    new_graph._codegen, new_graph._co_fields = gm.graph._codegen, gm.graph._co_fields
    gm.graph = new_graph
    return gm


def legalize_graph(gm: GraphModule) -> GraphModule:
    """Sort the nodes of a module's graph so that each comes after those that it uses. Return the module.

    Nodes that have all they need run in the order in which this happens; arithmetic of Python comes first.

    Raises:
        RuntimeError: nodes use each other in a circle.

    Example:
        >>> module = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
        >>> x, relu, add, output = module.graph.nodes
        >>> relu.prepend(add)
        >>> list(torch.fx.passes.tools_common.legalize_graph(module).graph.nodes)
        [x, relu, add, output]

    Mirrors torch/fx/passes/tools_common.py, ``legalize_graph``.
    """

    def take(queue: collections.deque[Node], node: Node) -> None:
        if node.all_input_nodes and node.op == "call_function" and node.target in _PRIORITIZED_OPS:
            queue.appendleft(node)
        else:
            queue.append(node)

    return _sort(gm, collections.deque(), take, collections.deque.popleft)


def stable_topological_sort(gm: GraphModule) -> GraphModule:
    """Sort the nodes of a module's graph so that each comes after those that it uses. Return the module.

    Of the nodes that have all they need, the one that came first comes first.

    Raises:
        RuntimeError: nodes use each other in a circle.

    Mirrors torch/fx/passes/tools_common.py, ``stable_topological_sort``.
    """
    return _sort(gm, [], heapq.heappush, heapq.heappop)
