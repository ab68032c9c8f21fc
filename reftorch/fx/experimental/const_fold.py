"""Folding constants: the nodes that depend on attributes alone are computed once, before the first call.

Mirrors: torch/fx/experimental/const_fold.py
Leaves out: symbolic shapes.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch.fx._symbolic_trace import symbolic_trace
from reftorch.fx.graph import Graph
from reftorch.fx.graph_module import GraphModule
from reftorch.fx.node import Node
from reftorch.nn import Module, Parameter, ParameterList

__all__ = ["FoldedGraphModule", "get_unique_attr_name_in_module", "split_const_subgraphs"]


class FoldedGraphModule(GraphModule):
    """A module whose constant part is a module of its own, ``const_subgraph_module``, which runs before the first call.

    Args:
        root, graph: as of :class:`GraphModule`: the part that depends on the inputs.
        const_subgraph: the constant part, or None.
        fx_const_folded_attrs_name: the attribute that gets the results of the constant part: a parameter, or a list of
            parameters if there are several.
        device_for_folded_attrs: the device of a result that is an integer.

    Mirrors torch/fx/experimental/const_fold.py, ``FoldedGraphModule``.
    """

    def __init__(
        self,
        root: Module,
        graph: Graph,
        const_subgraph: Graph | None = None,
        fx_const_folded_attrs_name: str | None = None,
        device_for_folded_attrs: str = "cuda",
    ) -> None:
        super().__init__(root, graph)
        self.const_subgraph_module = None if const_subgraph is None else GraphModule(root, const_subgraph)
        self.has_folding_been_run = False
        self.fx_const_folded_attrs_name = fx_const_folded_attrs_name
        self.device_for_folded_attrs = device_for_folded_attrs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.has_folding_been_run:
            self.run_folding()
        return super().__call__(*args, **kwargs)

    def run_folding(self) -> None:
        """Compute the constant part, and keep its results as parameters.

        Raises:
            AssertionError: the constant part was computed before.

        Mirrors torch/fx/experimental/const_fold.py, ``FoldedGraphModule.run_folding``.
        """
        if self.const_subgraph_module is None or self.fx_const_folded_attrs_name is None:
            return
        if self.has_folding_been_run:
            raise AssertionError("Folding has already been run")
        self.has_folding_been_run = True
        results = self.const_subgraph_module()
        if isinstance(results, tuple):
            folded: Any = ParameterList([self._parameter(each) for each in results])
        else:
            folded = self._parameter(results)
        setattr(self, self.fx_const_folded_attrs_name, folded)

    def _parameter(self, value: Any) -> Parameter:
        if isinstance(value, int):
            return Parameter(_C.tensor([float(value)], device=self.device_for_folded_attrs), requires_grad=False)
        return Parameter(value.detach().clone(), requires_grad=value.requires_grad)


def get_unique_attr_name_in_module(mod_traced: GraphModule, name: str) -> str:
    """Return a name like ``name`` that is an identifier and that no attribute of the module has.

    Example:
        >>> from reftorch.fx.experimental.const_fold import get_unique_attr_name_in_module
        >>> module = torch.fx.symbolic_trace(torch.nn.Linear(1, 1))
        >>> get_unique_attr_name_in_module(module, "weight"), get_unique_attr_name_in_module(module, "2 folded")
        ('weight_1', '_2_folded')

    Mirrors torch/fx/experimental/const_fold.py, ``get_unique_attr_name_in_module``.
    """
    name = re.sub(r"[^0-9a-zA-Z_]+", "_", name)
    name = f"_{name}" if name[0].isdigit() else name
    stem, number = name, 0
    if numbered := re.fullmatch(r"(.*)_(\d+)", name):
        stem, number = numbered[1], int(numbered[2])
    while hasattr(mod_traced, name):
        number += 1
        name = f"{stem}_{number}"
    return name


def split_const_subgraphs(
    module: Module | GraphModule,
    skip_folding_node_fn: Callable[[Node], bool] | None = None,
    device_for_folded_attrs: str = "cpu",
) -> FoldedGraphModule:
    """Return a module that computes the nodes that depend on attributes alone once, before its first call.

    Args:
        module: a module; it is traced if it is no :class:`GraphModule`.
        skip_folding_node_fn: returns True for a node that is to stay where it is.
        device_for_folded_attrs: the device of a result that is an integer.

    Example:
        >>> from reftorch.fx.experimental.const_fold import split_const_subgraphs
        >>> class Net(torch.nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.w = torch.nn.Parameter(torch.ones(2))
        ...     def forward(self, x):
        ...         return x * (self.w.exp() + 1)
        >>> folded = split_const_subgraphs(Net())
        >>> [node.name for node in folded.graph.nodes]
        ['x', '_fx_const_folded_attrs', 'mul', 'output']
        >>> folded(torch.ones(2))
        tensor([3.7183, 3.7183], grad_fn=<MulBackward0>)

    Mirrors torch/fx/experimental/const_fold.py, ``split_const_subgraphs``.
    """
    traced = module if isinstance(module, GraphModule) else symbolic_trace(module)
    constant = _constant_nodes(traced, skip_folding_node_fn)
    # The results that leave the constant part; an attribute that nothing constant uses is read where it was.
    leaving = [node for node in constant if node.op != "get_attr" and any(user not in constant for user in node.users)]
    if not leaving:
        return FoldedGraphModule(traced, traced.graph)

    const_graph = Graph()
    copies: dict[Node, Node] = {}
    for node in constant:
        copies[node] = const_graph.node_copy(node, lambda each: copies[each])
    results = tuple(copies[node] for node in leaving)
    const_graph.output(results if len(results) > 1 else results[0])
    const_graph.eliminate_dead_code()

    name = get_unique_attr_name_in_module(traced, "_FX_CONST_FOLDED_ATTRS")
    setattr(traced, name, ParameterList() if len(leaving) > 1 else Parameter())
    main, kept = Graph(), {}
    folded: Node | None = None
    for node in traced.graph.nodes:
        if node in leaving:
            if folded is None:
                folded = main.get_attr(name)
            kept[node] = folded
            if len(leaving) > 1:
                kept[node] = main.call_function(operator.getitem, (folded, leaving.index(node)))
            kept[node].meta = node.meta.copy()
        elif node not in constant or node.op == "get_attr":
            kept[node] = main.node_copy(node, lambda each: kept[each])
    main.eliminate_dead_code()
    return FoldedGraphModule(traced, main, const_graph, name, device_for_folded_attrs)


def _constant_nodes(traced: GraphModule, skip: Callable[[Node], bool] | None) -> dict[Node, None]:
    """Return the nodes that depend on attributes alone and have no other effect, in order."""
    constant: dict[Node, None] = {}
    for node in traced.graph.nodes:
        if node.op in ("placeholder", "output") or node.is_impure() or (skip is not None and skip(node)):
            continue
        if node.op == "get_attr" or all(each in constant for each in node.all_input_nodes):
            constant[node] = None
    return constant
