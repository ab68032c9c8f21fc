"""Replacing what nodes call, and the sizes of their results.

Mirrors: torch/fx/passes/graph_manipulation.py
Leaves out: quantized tensors.

Stays because programs that plan memory call ``get_size_of_node``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from reftorch._tensor import Tensor
from reftorch.fx.graph import Graph
from reftorch.fx.graph_module import GraphModule
from reftorch.fx.node import Node, Target, map_arg
from reftorch.fx.passes.shape_prop import ShapeProp, TensorMetadata

__all__ = ["get_size_of_all_nodes", "get_size_of_node", "get_tensor_meta", "replace_target_nodes_with", "size_bytes"]


def replace_target_nodes_with(
    fx_module: GraphModule, old_op: str, old_target: Target, new_op: str, new_target: Target
) -> None:
    """Let all nodes of a module that call one thing call another thing with the same arguments.

    Args:
        fx_module: the module; it gets a new graph.
        old_op, old_target: the ``op`` and ``target`` of the nodes to replace.
        new_op, new_target: those of the new nodes.

    Example:
        >>> import operator
        >>> from reftorch.fx.passes.graph_manipulation import replace_target_nodes_with
        >>> module = torch.fx.symbolic_trace(lambda x: x + 1)
        >>> replace_target_nodes_with(module, "call_function", operator.add, "call_function", operator.mul)
        >>> print(module.code.strip())
        def forward(self, x):
            add = x * 1;  x = None
            return add

    Mirrors torch/fx/passes/graph_manipulation.py, ``replace_target_nodes_with``.
    """
    new_graph = Graph()
    copied: dict[Node, Node] = {}
    for node in fx_module.graph.nodes:
        if node.op == old_op and node.target == old_target:
            args: Any = map_arg(node.args, lambda n: copied[n])
            kwargs: Any = map_arg(node.kwargs, lambda n: copied[n])
            copied[node] = new_graph.create_node(new_op, new_target, args, kwargs, node.name)
        else:
            copied[node] = new_graph.node_copy(node, lambda n: copied[n])
    fx_module.graph = new_graph


class size_bytes(NamedTuple):
    """The size of a node in bytes: of its result, and of its result and its parameters.

    Mirrors torch/fx/passes/graph_manipulation.py, ``size_bytes``.
    """

    output_size: int
    total_size: int


def get_size_of_all_nodes(fx_module: GraphModule, args: list[Tensor] | None = None) -> None:
    """Note the size of each node of a module in ``node.size_bytes``.

    Args:
        fx_module: the module.
        args: inputs, with which ``ShapeProp`` notes the shapes; None if the shapes are noted already.

    Raises:
        RuntimeError: the result of a node is no tensor, or its shape has not been noted.

    Example:
        >>> from reftorch.fx.passes.graph_manipulation import get_size_of_all_nodes
        >>> module = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(2, 3)))
        >>> get_size_of_all_nodes(module, [torch.ones(5, 2)])
        >>> module.graph.find_nodes(op="call_module")[0].size_bytes  # 15 results; 9 parameters
        size_bytes(output_size=60, total_size=96)

    Mirrors torch/fx/passes/graph_manipulation.py, ``get_size_of_all_nodes``.
    """
    if args is not None:
        ShapeProp(fx_module).propagate(*args)
    for node in fx_module.graph.nodes:
        if node.op != "output":
            node.size_bytes = get_size_of_node(fx_module, node)


def get_tensor_meta(node: Node) -> TensorMetadata:
    """Return what ``ShapeProp`` has noted about the result of a node.

    Raises:
        RuntimeError: nothing is noted.

    Mirrors torch/fx/passes/graph_manipulation.py, ``get_tensor_meta``.
    """
    tensor_meta = node.meta.get("tensor_meta")
    if not tensor_meta:
        raise RuntimeError(
            f"Node {node} has no tensor metadata associated with it! Check that shape propagation has run."
        )
    return tensor_meta


def get_size_of_node(fx_module: GraphModule, node: Node) -> size_bytes:
    """Return the size of a node's result, and this size plus that of the parameters of the module that it calls.

    As in PyTorch, parameters are counted with the size of an element of the result.

    Raises:
        RuntimeError: the result is no tensor, or its shape has not been noted.

    Mirrors torch/fx/passes/graph_manipulation.py, ``get_size_of_node``.
    """
    tensor_meta = get_tensor_meta(node)
    results = tensor_meta.shape.numel()
    called = fx_module.get_submodule(str(node.target)) if node.op == "call_module" else None
    parameters = sum(p.numel() for p in called.parameters()) if called is not None else 0
    itemsize = tensor_meta.dtype.itemsize
    return size_bytes(itemsize * results, itemsize * (results + parameters))
