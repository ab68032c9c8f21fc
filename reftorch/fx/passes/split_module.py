"""Splitting a module into submodules.

Mirrors: torch/fx/passes/split_module.py
Leaves out: symbolic shapes, autocast and grad-mode regions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from reftorch.fx.graph import Graph
from reftorch.fx.graph_module import GraphModule, _get_attr
from reftorch.fx.node import Node, map_arg
from reftorch.fx.proxy import Proxy
from reftorch.nn import Module

__all__ = ["Partition", "split_module", "split_module_simple"]


class Partition:
    """The nodes that become one submodule.

    Mirrors torch/fx/passes/split_module.py, ``Partition``.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.submod_name = f"submod_{name}"
        self.node_names: list[str] = []
        self.inputs: dict[str, None] = {}  # names of nodes elsewhere whose results the nodes use
        self.outputs: dict[str, None] = {}  # names of nodes whose results are used elsewhere
        self.dependencies: dict[str, None] = {}  # the partitions that these results come from
        self.dependents: dict[str, None] = {}  # the partitions that use results of this one
        self.graph = Graph()
        self.environment: dict[Node, Node] = {}  # maps nodes of the module to those of `graph`
        self.targets: dict[str, Any] = {}  # the attributes that the nodes use

    def __repr__(self) -> str:
        return (
            f"name: {self.name},\n nodes: {self.node_names},\n inputs: {self.inputs},\n outputs: {self.outputs},\n"
            f" partitions depended on: {self.dependencies},\n partition dependents: {self.dependents}"
        )


def split_module(
    m: GraphModule,
    root_m: Module,
    split_callback: Callable[[Node], Any],
    qualname_map: dict[str, str] | None = None,
    keep_original_order: bool | None = False,
    keep_original_node_name: bool | None = False,
    keep_original_input_name: bool = True,
    *,
    partition_affix: str | None = None,
    tuple_return: bool = False,
) -> GraphModule:
    """Return a module that calls submodules, each of which has a part of the nodes of another module.

    Args:
        m: the other module.
        root_m: has no effect, as in PyTorch.
        split_callback: takes a node and returns the number or name of its part.
        qualname_map: gets, for each path in the new module, the path in ``m``.
        keep_original_order: whether the parts run in the order of their first nodes, and not sorted by what they need.
        keep_original_node_name: whether nodes keep their names.
        keep_original_input_name: whether parameters of the submodules have the names of the nodes that they stand for;
            else ``arg_0`` and so on.
        partition_affix: text in the names of the submodules.
        tuple_return: whether submodules with one result return a tuple too.

    Raises:
        RuntimeError: the parts need each other in a circle.

    Example:
        >>> from reftorch.fx.passes.split_module import split_module
        >>> module = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
        >>> split = split_module(module, module, lambda node: 0 if node.name in ("add", "relu") else 1)
        >>> _ = split.print_readable()
        class GraphModule(torch.nn.Module):
            def forward(self, x):
                # No stacktrace found for following nodes
                submod_0 = self.submod_0(x);  x = None
                submod_1 = self.submod_1(submod_0);  submod_0 = None
                return submod_1
        <BLANKLINE>
            class submod_0(torch.nn.Module):
                ...

    Mirrors torch/fx/passes/split_module.py, ``split_module``.
    """
    nodes = {node.name: node for node in m.graph.nodes}
    partitions, partition_of = _assign(m, split_callback, partition_affix)
    order = list(partitions) if keep_original_order else _sorted_by_dependencies(partitions)
    for partition in partitions.values():
        _add_placeholders(m, partition, nodes, keep_original_input_name)
    for node, name in partition_of.items():
        _copy_node(m, partitions[name], node, qualname_map, bool(keep_original_node_name))

    graph = Graph()
    env: dict[str, Node] = {}
    attributes: dict[str, Any] = {}
    inputs = [node for node in m.graph.nodes if node.op in ("placeholder", "get_attr")]

    def add_input(node: Node) -> None:
        if node.name in env:
            return
        if node.op == "get_attr":
            env[node.name] = graph.get_attr(str(node.target))
            attributes[str(node.target)] = _get_attr(m, str(node.target))
        else:
            default = node.args[0] if node.args else inspect.Signature.empty
            name = node.name if keep_original_node_name else str(node.target)
            env[node.name] = graph.placeholder(name, type_expr=node.type, default_value=default)
        env[node.name].meta = node.meta.copy()
        env[node.name]._place = node._place

    for node in inputs:
        if node.op == "placeholder" or not keep_original_order:
            add_input(node)
    for name in order:
        partition = partitions[name]
        for used in partition.inputs:  # with keep_original_order, attributes are read before their first use
            if nodes[used].op == "get_attr":
                add_input(nodes[used])
        values = tuple(partition.environment[nodes[output]] for output in partition.outputs)
        single = len(values) == 1 and not tuple_return
        partition.graph.output(values[0] if single else values)
        attributes[partition.submod_name] = GraphModule(partition.targets, partition.graph)
        call = graph.call_module(partition.submod_name, tuple(env[used] for used in partition.inputs))
        for i, output in enumerate(partition.outputs):
            env[output] = call if single else Proxy(call)[i].node  # type: ignore[index]
    for node in inputs:
        add_input(node)
    for node in m.graph.find_nodes(op="output"):
        graph.output(map_arg(node.args[0], lambda n: env[n.name]))
    result = GraphModule(attributes, graph)
    result.meta["partition_names"] = {partition.submod_name for partition in partitions.values()}
    return result


def split_module_simple(
    m: GraphModule, node_to_partition: dict[Node, int], *, partition_affix: str | None = None
) -> GraphModule:
    """Return a module that calls submodules, for parts that are given by a dict and run in the order of the nodes.

    PyTorch has this function beside :func:`split_module` because it is quicker for compilers' graphs; here it calls
    :func:`split_module`.

    Args:
        m: the module to split.
        node_to_partition: the number of the part of each node that computes something.
        partition_affix: text in the names of the submodules.

    Raises:
        KeyError: a node has no number, or a part needs the result of a part that begins later.

    Mirrors torch/fx/passes/split_module.py, ``split_module_simple``.
    """
    return split_module(m, m, node_to_partition.__getitem__, keep_original_order=True, partition_affix=partition_affix)


def _assign(
    m: GraphModule, split_callback: Callable[[Node], Any], affix: str | None
) -> tuple[dict[str, Partition], dict[Node, str]]:
    """Return the partitions by name, and the name of the partition of each node that computes something."""
    partitions: dict[str, Partition] = {}
    partition_of: dict[Node, str] = {}
    for node in m.graph.nodes:
        if node.op not in ("placeholder", "get_attr", "output"):
            name = str(split_callback(node))
            name = f"{affix}_{name}" if affix is not None else name
            partitions.setdefault(name, Partition(name)).node_names.append(node.name)
            partition_of[node] = name
    for user in m.graph.nodes:
        using = partition_of.get(user)
        if using is None and user.op != "output":
            continue
        for node in user.all_input_nodes:
            defining = partition_of.get(node)
            if defining == using:
                continue
            if defining is not None:
                partitions[defining].outputs.setdefault(node.name)
            if using is not None:
                partitions[using].inputs.setdefault(node.name)
            if defining is not None and using is not None:
                partitions[defining].dependents.setdefault(using)
                partitions[using].dependencies.setdefault(defining)
    return partitions, partition_of


def _sorted_by_dependencies(partitions: dict[str, Partition]) -> list[str]:
    """Return the names of the partitions, each after those that it needs."""
    missing = {name: len(partition.dependencies) for name, partition in partitions.items()}
    ready = [name for name, count in missing.items() if not count]
    result: list[str] = []
    while ready:
        name = ready.pop()
        result.append(name)
        for dependent in partitions[name].dependents:
            missing[dependent] -= 1
            if not missing[dependent]:
                ready.append(dependent)
    if len(result) != len(partitions):
        raise RuntimeError("cycle exists between partitions!")
    return result


def _add_placeholders(m: GraphModule, partition: Partition, nodes: dict[str, Node], keep_names: bool) -> None:
    """Make a parameter of the submodule for each node elsewhere that its nodes use; a module is read inside."""
    modules = [
        name
        for name in partition.inputs
        if nodes[name].op == "get_attr" and isinstance(_get_attr(m, str(nodes[name].target)), Module)
    ]
    partition.inputs = {name: None for name in partition.inputs if name not in modules}
    for i, name in enumerate(partition.inputs):
        node = nodes[name]
        placeholder = partition.graph.placeholder(name if keep_names else f"arg_{i}", type_expr=node.type)
        placeholder.meta = node.meta.copy()
        partition.environment[node] = placeholder
    for name in modules:
        target = str(nodes[name].target)
        partition.environment[nodes[name]] = partition.graph.get_attr(target)
        partition.environment[nodes[name]].meta = nodes[name].meta.copy()
        partition.targets[target] = _get_attr(m, target)


def _copy_node(
    m: GraphModule, partition: Partition, node: Node, qualname_map: dict[str, str] | None, keep_name: bool
) -> None:
    target: Any = node.target
    if node.op == "call_module":
        target = target.replace(".", "_")
        partition.targets[target] = _get_attr(m, str(node.target))
        if qualname_map is not None:
            qualname_map[f"{partition.submod_name}.{target}"] = str(node.target)
    copied = partition.graph.create_node(
        op=node.op,
        target=target,
        args=map_arg(node.args, lambda n: partition.environment[n]),
        kwargs=map_arg(node.kwargs, lambda n: partition.environment[n]),
        type_expr=node.type,
        name=node.name if keep_name else None,
    )
    copied.meta = node.meta.copy()
    copied._place = node._place
    partition.environment[node] = copied
