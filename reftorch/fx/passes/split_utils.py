"""Splitting a module by the tags of its nodes.

Mirrors: torch/fx/passes/split_utils.py
Leaves out: moving nodes between the parts of an accelerator and those of the processor.

Stays because composer, nncf and vescale call ``split_by_tags``, and torchrec calls ``getattr_recursive``.
"""

from __future__ import annotations

import copy
import functools
from dataclasses import dataclass, field
from typing import Any

from reftorch.fx.graph import Graph
from reftorch.fx.graph_module import GraphModule
from reftorch.fx.node import Node, map_arg
from reftorch.fx.proxy import Proxy
from reftorch.nn import Module

__all__ = ["Component", "getattr_recursive", "setattr_recursive", "split_by_tags"]


def getattr_recursive(obj: Any, name: str) -> Any:
    """Return the attribute at a path, or None.

    Mirrors torch/fx/passes/split_utils.py, ``getattr_recursive``.
    """
    for layer in name.split("."):
        obj = getattr(obj, layer, None)
        if obj is None:
            return None
    return obj


def setattr_recursive(obj: Any, attr: str, value: Any) -> None:
    """Set the attribute at a path.

    Mirrors torch/fx/passes/split_utils.py, ``setattr_recursive``.
    """
    *path, name = attr.split(".")
    for layer in path:
        obj = getattr(obj, layer)
    setattr(obj, name, value)


@dataclass
class Component:
    """The nodes with one tag, which become a submodule.

    Mirrors torch/fx/passes/split_utils.py, ``Component``.
    """

    graph: Graph
    order: int
    name: str
    input_placeholders: list[Node] = field(default_factory=list)
    orig_inputs: list[Node] = field(default_factory=list)
    orig_outputs: list[Node] = field(default_factory=list)
    getattr_maps: dict[Node, Node] = field(default_factory=dict)
    constructor_args: list[str] = field(default_factory=list)
    gm: GraphModule | None = None


def split_by_tags(
    gm: GraphModule,
    tags: list[str],
    return_fqn_mapping: bool = False,
    return_tuple: bool = False,
    GraphModuleCls: type[GraphModule] = GraphModule,
) -> Any:
    """Return a module that calls a submodule for each tag; ``node.tag`` says where a node goes.

    Args:
        gm: the module. Each node that computes something has a tag.
        tags: the tags, in the order in which the submodules run.
        return_fqn_mapping: whether to return a dict too, which maps paths in ``gm`` to paths in the new module.
        return_tuple: whether submodules with one result return a tuple too.
        GraphModuleCls: the class of the new module.

    Raises:
        AssertionError: a node has no tag, or uses a node whose tag comes later.

    Example:
        >>> from reftorch.fx.passes.split_utils import split_by_tags
        >>> module = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
        >>> for node in module.graph.nodes:
        ...     node.tag = "first" if node.name == "add" else "second"
        >>> print(split_by_tags(module, ["first", "second"]).code.strip())
        def forward(self, x):
            first = self.first(x);  x = None
            second = self.second(first);  first = None
            return second

    Mirrors torch/fx/passes/split_utils.py, ``split_by_tags``.
    """
    components = {tag: Component(Graph(), i, tag) for i, tag in enumerate(tags)}
    component_of: dict[Node, Component] = {}
    copied: dict[Node, Node] = {}
    main_graph = Graph()
    in_main: dict[Node, Node] = {}  # maps nodes of the module to those of the new main graph
    for node in gm.graph.nodes:
        if node.op == "placeholder":
            in_main[node] = main_graph.placeholder(node.name, type_expr=node.type)
            in_main[node].meta = copy.copy(node.meta)
        elif node.op not in ("get_attr", "output"):
            if not hasattr(node, "tag"):
                raise AssertionError(f"Node does not have tag: {node.format_node()}")
            component = component_of[node] = components[node.tag]
            latest = max((component_of[n].order for n in node.all_input_nodes if n in component_of), default=0)
            if component.order < latest:
                raise AssertionError(
                    f"Component {component.name} order must be >= max of its upstream components, "
                    f"order={component.order} and max={latest}"
                )
            inside = functools.partial(_inside, component=component, component_of=component_of, copied=copied)
            copied[node] = component.graph.node_copy(node, inside)
            copied[node].tag = node.tag  # type: ignore[attr-defined]
    output = gm.graph.output_node()
    used_elsewhere = [n for component in components.values() for n in component.orig_inputs]
    for node in dict.fromkeys([*used_elsewhere, *output.all_input_nodes]):
        if node in component_of:
            component_of[node].orig_outputs.append(node)
    paths: dict[str, str] = {}
    root = Module()
    for component in components.values():
        outputs = tuple(copied[node] for node in component.orig_outputs)
        single = len(outputs) == 1 and not return_tuple
        component.graph.output(outputs[0] if single else outputs)
        component.gm = GraphModule(gm, component.graph)
        setattr(root, component.name, component.gm)
        for node in component.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                paths[str(node.target)] = f"{component.name}.{node.target}"
        call = main_graph.call_module(component.name, tuple(in_main[node] for node in component.orig_inputs))
        for i, node in enumerate(component.orig_outputs):
            in_main[node] = call if single else Proxy(call)[i].node  # type: ignore[index]
    for node in output.all_input_nodes:
        if node.op == "get_attr":
            setattr(root, node.name, getattr_recursive(gm, str(node.target)))
            in_main[node] = main_graph.get_attr(node.name, type_expr=node.type)
    main_graph.output(map_arg(output.args[0], lambda n: in_main[n]))
    main_graph._codegen = gm.graph._codegen
    result = GraphModuleCls(root, main_graph)
    return (result, paths) if return_fqn_mapping else result


def _inside(node: Node, component: Component, component_of: dict[Node, Component], copied: dict[Node, Node]) -> Node:
    """Return the node of a component's graph that stands for a node of the module; make a parameter if needed."""
    if node.op == "get_attr":
        if node not in component.getattr_maps:
            component.getattr_maps[node] = component.graph.get_attr(str(node.target), type_expr=node.type)
            component.getattr_maps[node].meta = copy.copy(node.meta)
        return component.getattr_maps[node]
    if component_of.get(node) is component:
        return copied[node]
    if node not in component.orig_inputs:
        component.orig_inputs.append(node)
        placeholder = component.graph.placeholder(node.name, type_expr=node.type)
        placeholder.meta = copy.copy(node.meta)
        component.input_placeholders.append(placeholder)
    return component.input_placeholders[component.orig_inputs.index(node)]
