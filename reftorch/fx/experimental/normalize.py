"""Two ways to say the same call become one: arguments by their names, and operators by theirs.

Mirrors: torch/fx/experimental/normalize.py
Leaves out: types that a schema gives to nodes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from reftorch import _VF
from reftorch.fx.graph_module import GraphModule
from reftorch.fx.interpreter import Transformer
from reftorch.fx.node import Node, map_aggregate
from reftorch.fx.operator_schemas import create_type_hint, normalize_function, normalize_module
from reftorch.fx.proxy import Proxy

__all__ = ["NormalizeArgs", "NormalizeOperators"]


class NormalizeArgs(Transformer):
    """Write the arguments of functions and modules as their signatures name them, with the defaults.

    Functions with positional-only or variable arguments stay as they are.

    Args:
        module: the module.
        normalize_to_only_use_kwargs: whether positional arguments become keyword arguments too.

    Example:
        >>> from reftorch.fx.experimental.normalize import NormalizeArgs
        >>> traced = torch.fx.symbolic_trace(lambda x: torch.nn.functional.hardtanh(x, -2.0))
        >>> print(NormalizeArgs(traced).transform().code.strip().split("\\n")[1].strip())
        hardtanh = torch.nn.functional.hardtanh(input = x, min_val = -2.0, max_val = 1.0, inplace = False);  x = None

    Mirrors torch/fx/experimental/normalize.py, ``NormalizeArgs``.
    """

    def __init__(self, module: GraphModule, normalize_to_only_use_kwargs: bool = True) -> None:
        super().__init__(module)
        self.node_map: dict[Proxy, Node] = {}  # from a new node's proxy to the node of which it is the copy
        self.normalize_to_only_use_kwargs = normalize_to_only_use_kwargs

    def run_node(self, n: Node) -> Any:
        if n.op != "call_function":
            result = super().run_node(n)
        else:
            args, kwargs = self.fetch_args_kwargs_from_env(n)

            def type_of(value: Any) -> Any:
                return value.meta.get("type", value.type) if isinstance(value, Node) else type(value)

            arg_types = tuple(create_type_hint(each) for each in map_aggregate(n.args, type_of))
            kwarg_types = {key: type_of(value) for key, value in n.kwargs.items()}
            result = self.call_function(n.target, args, kwargs, arg_types, kwarg_types)
        if n.op != "output":
            self.node_map[result] = n
            result.node.meta, result.node.type = n.meta, n.type
        return result

    def call_function(
        self,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        arg_types: tuple[Any, ...] | None = None,
        kwarg_types: dict[str, Any] | None = None,
    ) -> Any:
        only_kwargs = self.normalize_to_only_use_kwargs
        pair = normalize_function(target, args, kwargs, arg_types, kwarg_types, only_kwargs)
        if pair is None:
            return super().call_function(target, args, kwargs)
        return self.tracer.create_proxy("call_function", target, pair.args, pair.kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        pair = normalize_module(self.module, target, args, kwargs, self.normalize_to_only_use_kwargs)
        return super().call_module(target, *(pair or (args, kwargs)))


class NormalizeOperators(Transformer):
    """Write ``torch.add(x, y)`` and the like as the operator, where the call has two arguments and no keyword.

    Example:
        >>> from reftorch.fx.experimental.normalize import NormalizeOperators
        >>> traced = torch.fx.symbolic_trace(lambda x: torch.mul(x, 2) + 1)
        >>> [node.target for node in NormalizeOperators(traced).transform().graph.find_nodes(op="call_function",
        ...                                                                              target=torch.mul)]
        []

    Mirrors torch/fx/experimental/normalize.py, ``NormalizeOperators``.
    """

    binary_magic_method_remap: dict[Callable[..., Any], Callable[[Any, Any], Any]] = {
        getattr(_VF, name): function
        for name, function in {
            "add": operator.add,
            "mul": operator.mul,
            "sub": operator.sub,
            "div": operator.truediv,
            "floor_divide": operator.floordiv,
            "remainder": operator.mod,
            "eq": operator.eq,
            "ne": operator.ne,
            "lt": operator.lt,
            "le": operator.le,
            "gt": operator.gt,
            "ge": operator.ge,
        }.items()
    }

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        remapped = self.binary_magic_method_remap.get(target)
        if remapped is not None and len(args) == 2 and not kwargs:
            return super().call_function(remapped, args, {})
        return super().call_function(target, args, kwargs)
