"""Saying which nodes of a graph a backend can run.

Mirrors: torch/fx/passes/operator_support.py

Stays because executorch and OpenVINO subclass ``OperatorSupportBase`` and ``OperatorSupport``.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reftorch.fx.node import Node
from reftorch.fx.passes.shape_prop import TensorMetadata
from reftorch.fx.passes.tools_common import CALLABLE_NODE_OPS, get_node_target
from reftorch.nn import Module
from reftorch.types import _dtype as Dtype

__all__ = ["OpSupports", "OperatorSupport", "OperatorSupportBase", "any_chain", "chain", "create_op_support"]

TargetTypeName = str
# The dtypes that each argument may have, by position and by name. None allows every dtype.
SupportedArgumentDTypes = tuple[Sequence[Sequence[Dtype] | None], Mapping[str, Sequence[Dtype]]] | None
SupportDict = Mapping[TargetTypeName, SupportedArgumentDTypes]
IsNodeSupported = Callable[[Mapping[str, Module], Node], bool]


class OperatorSupportBase(abc.ABC):
    """Says which nodes a backend can run. Subclasses define :meth:`is_node_supported`.

    Mirrors torch/fx/passes/operator_support.py, ``OperatorSupportBase``.
    """

    @abc.abstractmethod
    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """Return whether the backend can run a node.

        Args:
            submodules: the modules by path, as in ``dict(module.named_modules())``.
            node: the node.
        """


class OperatorSupport(OperatorSupportBase):
    """Says by a table which nodes a backend can run. ``ShapeProp`` must have noted the dtypes.

    Args:
        support_dict: maps the name of what a node calls, as :func:`~reftorch.fx.passes.tools_common.get_node_target`
            returns it, to the dtypes of the arguments: a sequence for the arguments by position and a dict for those by
            name. None, for a call or for an argument by position, allows every dtype.

    Example:
        >>> from reftorch.fx.passes.operator_support import OperatorSupport
        >>> from reftorch.fx.passes.shape_prop import ShapeProp
        >>> module = torch.fx.symbolic_trace(lambda x: torch.relu(x).tanh())
        >>> _ = ShapeProp(module).propagate(torch.ones(2))
        >>> support = OperatorSupport({"torch.relu": (([torch.float32],), {})})
        >>> [node.name for node in module.graph.nodes if support.is_node_supported({}, node)]
        ['x', 'relu', 'output']

    Mirrors torch/fx/passes/operator_support.py, ``OperatorSupport``.
    """

    _support_dict: SupportDict

    def __init__(self, support_dict: SupportDict | None = None) -> None:
        self._support_dict = support_dict or {}

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """Return whether the table has the node. A node that calls nothing is always supported."""
        if node.op not in CALLABLE_NODE_OPS:
            return True
        target = get_node_target(submodules, node)
        if target not in self._support_dict:
            return False
        dtypes = self._support_dict[target]
        if dtypes is None:
            return True
        by_position, by_name = dtypes
        pairs: list[tuple[Any, Sequence[Dtype] | None]] = list(zip(node.args, by_position, strict=False))
        pairs += [(node.kwargs[name], allowed) for name, allowed in by_name.items() if name in node.kwargs]
        return all(
            _get_arg_dtype(arg) in allowed for arg, allowed in pairs if isinstance(arg, Node) and allowed is not None
        )


class _FunctionalOperatorSupport(OperatorSupportBase):
    def __init__(self, function: IsNodeSupported) -> None:
        self.function = function

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        return self.function(submodules, node)


def create_op_support(is_node_supported: IsNodeSupported) -> OperatorSupportBase:
    """Return an :class:`OperatorSupportBase` whose method is a function.

    Mirrors torch/fx/passes/operator_support.py, ``create_op_support``.
    """
    return _FunctionalOperatorSupport(is_node_supported)


def chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Return the support of those nodes that all the given ones support.

    Mirrors torch/fx/passes/operator_support.py, ``chain``.
    """
    return create_op_support(lambda submodules, node: all(s.is_node_supported(submodules, node) for s in op_support))


def any_chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Return the support of those nodes that at least one of the given ones supports.

    Example:
        >>> from reftorch.fx.passes.operator_support import any_chain, create_op_support
        >>> first = create_op_support(lambda _, node: node.op == "placeholder")
        >>> second = create_op_support(lambda _, node: node.op == "output")
        >>> graph = torch.fx.symbolic_trace(lambda x: x + 1).graph
        >>> [node.name for node in graph.nodes if any_chain(first, second).is_node_supported({}, node)]
        ['x', 'output']

    Mirrors torch/fx/passes/operator_support.py, ``any_chain``.
    """
    return create_op_support(lambda submodules, node: any(s.is_node_supported(submodules, node) for s in op_support))


class OpSupports:
    """Ready-made parts for :func:`chain`.

    Mirrors torch/fx/passes/operator_support.py, ``OpSupports``.
    """

    @classmethod
    def decline_if_input_dtype(cls, dtype: Dtype) -> OperatorSupportBase:
        """Support the nodes that use no tensor of a dtype.

        Mirrors torch/fx/passes/operator_support.py, ``OpSupports.decline_if_input_dtype``.
        """
        return create_op_support(lambda _, node: all(_get_arg_dtype(arg) != dtype for arg in node.all_input_nodes))

    @classmethod
    def decline_if_node_in_names(cls, disallow_set: set[str]) -> OperatorSupportBase:
        """Support the nodes whose names are not in a set.

        Mirrors torch/fx/passes/operator_support.py, ``OpSupports.decline_if_node_in_names``.
        """
        return create_op_support(lambda _, node: node.name not in disallow_set)


def _get_arg_dtype(arg: Node) -> Any:
    """Return the dtype of a node's result, or its type if the result is no tensor."""
    meta = arg.meta.get("tensor_meta")
    return meta.dtype if isinstance(meta, TensorMetadata) else arg.meta["type"]
