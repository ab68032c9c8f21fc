"""Making a trained module faster: folding batch norms into layers, removing dropout.

Mirrors: torch/fx/experimental/optimization.py
Leaves out: what converts modules to MKL-DNN.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from reftorch import nn
from reftorch.fx._symbolic_trace import symbolic_trace
from reftorch.fx.graph import Graph
from reftorch.fx.graph_module import GraphModule
from reftorch.fx.interpreter import Transformer
from reftorch.fx.node import Node, Target
from reftorch.nn import Module
from reftorch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

__all__ = ["extract_subgraph", "fuse", "matches_module_pattern", "remove_dropout", "replace_node_module"]

# The layers into which a batch norm can be folded, by name: not all of them may exist.
_PATTERNS = (
    ("Conv1d", "BatchNorm1d"),
    ("Conv2d", "BatchNorm2d"),
    ("Conv3d", "BatchNorm3d"),
    ("Linear", "BatchNorm1d"),
)


def _parent_name(target: str) -> tuple[str, str]:
    """Return the path of the module that contains the one at a path, and the name in it."""
    parent, _, name = target.rpartition(".")
    return parent, name


def matches_module_pattern(pattern: Iterable[type], node: Node, modules: dict[str, Any]) -> bool:
    """Return whether a node calls a module of the second class on the result of one of the first class.

    Args:
        pattern: the two classes.
        node: the node.
        modules: the modules by path.

    Mirrors torch/fx/experimental/optimization.py, ``matches_module_pattern``.
    """
    if not node.args:
        return False
    return all(
        isinstance(current, Node) and current.op == "call_module" and type(modules.get(str(current.target))) is expected
        for expected, current in zip(pattern, (node.args[0], node), strict=True)
    )


def replace_node_module(node: Node, modules: dict[str, Any], new_module: Module) -> None:
    """Put a module in the place of the one that a node calls.

    Args:
        node: the node.
        modules: the modules by path, which change.
        new_module: the module.

    Mirrors torch/fx/experimental/optimization.py, ``replace_node_module``.
    """
    parent, name = _parent_name(str(node.target))
    modules[str(node.target)] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model: Module, inplace: bool = False, no_trace: bool = False) -> GraphModule:
    """Fold the batch norms of a module into the convolutions and linear maps before them.

    Args:
        model: the module, in evaluation mode.
        inplace: whether ``model`` itself is traced, and not a copy; the new module then shares its other layers.
        no_trace: whether ``model`` is a GraphModule that need not be traced.

    Returns:
        A module that computes the same without these batch norms.

    Raises:
        AssertionError: the module is in training mode.

    Example:
        >>> from reftorch.fx.experimental.optimization import fuse
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.ReLU()).eval()
        >>> print(fuse(net).code.strip())
        def forward(self, input):
            input_1 = input
            _0 = getattr(self, "0")(input_1);  input_1 = None
            _2 = getattr(self, "2")(_0);  _0 = None
            return _2

    Mirrors torch/fx/experimental/optimization.py, ``fuse``.
    """
    model = model if inplace else copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules = dict(traced.named_modules())
    graph = copy.deepcopy(traced.graph)
    for names in _PATTERNS:
        if not all(hasattr(nn, name) for name in names):
            continue
        for node in graph.nodes:
            if not matches_module_pattern([getattr(nn, name) for name in names], node, modules):
                continue
            layer_node = node.args[0]
            layer, norm = modules[layer_node.target], modules[node.target]
            if len(layer_node.users) > 1 or not norm.track_running_stats:
                continue
            fold = fuse_linear_bn_eval if names[0] == "Linear" else fuse_conv_bn_eval
            replace_node_module(layer_node, modules, fold(layer, norm))
            node.replace_all_uses_with(layer_node)
            graph.erase_node(node)
    return GraphModule(traced, graph)


class _DropoutRemover(Transformer):
    def call_module(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if isinstance(self.submodules[str(target)], nn.Dropout):
            return args[0]
        return super().call_module(target, args, kwargs)


def remove_dropout(model: Module) -> GraphModule:
    """Return a module without the dropout of another module.

    Example:
        >>> from reftorch.fx.experimental.optimization import remove_dropout
        >>> net = remove_dropout(torch.nn.Sequential(torch.nn.Dropout(), torch.nn.ReLU()))
        >>> [node.target for node in net.graph.nodes]
        ['input', '1', 'output']

    Mirrors torch/fx/experimental/optimization.py, ``remove_dropout``.
    """
    return _DropoutRemover(symbolic_trace(model)).transform()


def extract_subgraph(orig_module: Module, nodes: list[Node], inputs: list[Node], outputs: list[Node]) -> GraphModule:
    """Return a module that runs some nodes of a module's graph.

    Args:
        orig_module: the module.
        nodes: the nodes, in order.
        inputs: the nodes whose results become parameters.
        outputs: the nodes whose results are returned, as a list.

    Example:
        >>> from reftorch.fx.experimental.optimization import extract_subgraph
        >>> module = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
        >>> x, add, relu, mul, output = module.graph.nodes
        >>> print(extract_subgraph(module, [relu], [add], [relu]).code.strip())
        def forward(self, add):
            relu = torch.relu(add);  add = None
            return [relu]

    Mirrors torch/fx/experimental/optimization.py, ``extract_subgraph``.
    """
    graph = Graph()
    env = {node: graph.placeholder(node.name) for node in inputs}
    for node in nodes:
        env[node] = graph.node_copy(node, lambda n: env[n])
    graph.output([env[node] for node in outputs])
    graph.lint()
    return GraphModule(orig_module, graph)
