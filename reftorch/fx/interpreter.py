"""Running a graph node by node.

Mirrors: torch/fx/interpreter.py
Leaves out: the progress bar, structured logs.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from reftorch.fx import traceback as fx_traceback
from reftorch.fx._symbolic_trace import Tracer
from reftorch.fx.graph import Graph, _last_uses
from reftorch.fx.graph_module import GraphModule
from reftorch.fx.node import Node, Target, map_aggregate, map_arg
from reftorch.fx.proxy import Proxy
from reftorch.nn import Module

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs a graph node by node. Subclasses override what a kind of node does, or :meth:`run_node` for all kinds.

    Args:
        module: the module whose attributes and submodules the nodes use.
        garbage_collect_values: whether to drop each value after its last use.
        graph: the graph; by default that of ``module``.

    Example:
        >>> class Negated(torch.fx.Interpreter):
        ...     def call_function(self, target, args, kwargs):
        ...         return super().call_function(torch.neg if target is torch.relu else target, args, kwargs)
        >>> module = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
        >>> Negated(module).run(torch.ones(2))
        tensor([0., 0.])

    Mirrors torch/fx/interpreter.py, ``Interpreter``.
    """

    def __init__(self, module: Module, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph: Graph = graph if graph is not None else module.graph
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True  # whether an error says which node failed
        if garbage_collect_values:
            self.user_to_last_uses = _last_uses(reversed(self.graph.nodes))

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """Run the graph and return its result.

        Args:
            args: the values of the placeholders in order.
            initial_env: values of nodes that are not run.
            enable_io_processing: whether the graph's code generator converts arguments and result, as it does where
                the graph was traced with structures among ``concrete_args``.

        Raises:
            RuntimeError: there are fewer arguments than placeholders.

        Mirrors torch/fx/interpreter.py, ``Interpreter.run``.
        """
        self.env = initial_env if initial_env is not None else {}
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter: Iterator[Any] = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as e:
                if self.extra_traceback:
                    self._explain(e, node)
                    if isinstance(e, KeyError):  # whose text would be shown quoted, in one line
                        raise RuntimeError(*e.args) from e
                raise
            if self.garbage_collect_values:
                for used in self.user_to_last_uses.get(node, []):
                    del self.env[used]
            if node.op == "output":
                result = self.env[node]
                return self.graph.process_outputs(result) if enable_io_processing else result
        return None

    def _explain(self, e: Exception, node: Node) -> None:
        """Add to an error the node, and the line of the traced program that the node was made from."""
        message = f"While executing {node.format_node()}"
        if e.args:
            message = f"{e.args[0]}\n\n{message}"
        message += f"\nOriginal traceback:\n{node.stack_trace or _place_of(node)}"
        e.args = (message, *e.args[1:])

    def boxed_run(self, args_list: list[Any]) -> Any:
        """Run the graph on the values of a list, and empty the list, so that the values are freed early.

        Raises:
            RuntimeError: the list does not have one value for each placeholder.

        Mirrors torch/fx/interpreter.py, ``Interpreter.boxed_run``.
        """
        placeholders = self.graph.find_nodes(op="placeholder")
        if len(args_list) != len(placeholders):
            detail = "extra arguments" if len(args_list) > len(placeholders) else "missing arguments"
            raise RuntimeError(
                f"Interpreter.boxed_run expected {len(placeholders)} arguments for placeholders "
                f"but received {len(args_list)} ({detail})"
            )
        env = dict(zip(placeholders, args_list, strict=True))
        args_list.clear()
        return self.run(initial_env=env)

    def _set_current_node(self, node: Node) -> AbstractContextManager[None]:
        return fx_traceback.set_current_meta(node, f"Interpreter_{type(self).__name__}")

    def run_node(self, n: Node) -> Any:
        """Run a node: call the method named after its kind, and return the value.

        Mirrors torch/fx/interpreter.py, ``Interpreter.run_node``.
        """
        with self._set_current_node(n):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the next argument of the run, or the default of the parameter.

        Raises:
            RuntimeError: there is neither.

        Mirrors torch/fx/interpreter.py, ``Interpreter.placeholder``.
        """
        assert isinstance(target, str)
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration as e:
            if args:
                return args[0]
            raise RuntimeError(
                f"Expected positional argument for parameter {target}, but one was not passed in!"
            ) from e

    def get_attr(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the attribute of the module at the path ``target``.

        Mirrors torch/fx/interpreter.py, ``Interpreter.get_attr``.
        """
        return self.fetch_attr(str(target))

    def call_function(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function.

        Mirrors torch/fx/interpreter.py, ``Interpreter.call_function``.
        """
        assert not isinstance(target, str)
        return target(*args, **kwargs)

    def call_method(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the method named ``target`` of the first argument.

        Mirrors torch/fx/interpreter.py, ``Interpreter.call_method``.
        """
        self_obj, *rest = args
        return getattr(self_obj, str(target))(*rest, **kwargs)

    def call_module(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the submodule at the path ``target``.

        Mirrors torch/fx/interpreter.py, ``Interpreter.call_module``.
        """
        return self.fetch_attr(str(target))(*args, **kwargs)

    def output(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of the graph.

        Mirrors torch/fx/interpreter.py, ``Interpreter.output``.
        """
        return args[0]

    def fetch_attr(self, target: str) -> Any:
        """Return the attribute of the module at a path.

        Raises:
            RuntimeError: there is none.

        Mirrors torch/fx/interpreter.py, ``Interpreter.fetch_attr``.
        """
        found: Any = self.module
        atoms = target.split(".")
        for i, atom in enumerate(atoms):
            if not hasattr(found, atom):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(atoms[: i + 1])}")
            found = getattr(found, atom)
        return found

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of a node with values in place of nodes.

        Mirrors torch/fx/interpreter.py, ``Interpreter.fetch_args_kwargs_from_env``.
        """
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """Return a structure with values in place of nodes.

        Args:
            args: the structure.
            n: the node to which the structure belongs, for the message of an error.

        Raises:
            RuntimeError: a node in the structure has no value.

        Mirrors torch/fx/interpreter.py, ``Interpreter.map_nodes_to_values``.
        """

        def load_arg(used: Node) -> Any:
            if used not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {used}! Run Graph.lint() to diagnose such issues"
                )
            return self.env[used]

        return map_arg(args, load_arg)


def _place_of(node: Node) -> str | None:
    """Return the line of the traced program that a node was made from, as a traceback shows it."""
    if node._place is None:
        return None
    file, line, function = node._place
    return f'File "{file}", line {line}, in {function}'


class _TransformerTracer(Tracer):
    """Records what a :class:`Transformer` runs, and enters no module."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self.tensor_attrs = {}

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        return True


class Transformer(Interpreter):
    """Runs a graph on proxies and returns the module that they record. Subclasses override what a kind of node does.

    Args:
        module: the module to transform.

    Example:
        >>> class NegToRelu(torch.fx.Transformer):
        ...     def call_function(self, target, args, kwargs):
        ...         return super().call_function(torch.relu if target is torch.neg else target, args, kwargs)
        >>> module = torch.fx.symbolic_trace(lambda x: torch.neg(x) + 1)
        >>> print(NegToRelu(module).transform().code.strip())
        def forward(self, x):
            relu = torch.relu(x);  x = None
            add = relu + 1;  relu = None
            return add

    Mirrors torch/fx/interpreter.py, ``Transformer``.
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.new_graph._co_fields = module.graph._co_fields
        self.tracer = _TransformerTracer(self.new_graph)
        self.tracer.root = module

    def placeholder(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """Return a proxy of a new placeholder.

        Mirrors torch/fx/interpreter.py, ``Transformer.placeholder``.
        """
        default = args[0] if args else inspect.Signature.empty
        return Proxy(self.new_graph.placeholder(str(target), default_value=default), self.tracer)

    def get_attr(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """Return a proxy of a new ``get_attr`` node.

        Mirrors torch/fx/interpreter.py, ``Transformer.get_attr``.
        """
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call of a submodule.

        Mirrors torch/fx/interpreter.py, ``Transformer.call_module``.
        """
        submodule = self.fetch_attr(str(target))
        return self.tracer.call_module(submodule, submodule.forward, args, kwargs)

    def call_function(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call of a function.

        Mirrors torch/fx/interpreter.py, ``Transformer.call_function``.
        """
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def run_node(self, n: Node) -> Any:
        """Run a node on proxies. The nodes that this makes name the same line of the traced program as ``n``."""
        last = self.new_graph._root.prev
        result = super().run_node(n)
        for node in reversed(self.new_graph.nodes):
            if node is last:
                break
            node._place = n._place
        return result

    def transform(self) -> GraphModule:
        """Run the graph on proxies, and return a module with the graph that they recorded.

        Mirrors torch/fx/interpreter.py, ``Transformer.transform``.
        """
        with fx_traceback.preserve_node_meta():
            result = super().run(enable_io_processing=False)
        if result is not None:
            output = self.new_graph.output(map_aggregate(result, lambda a: a.node if isinstance(a, Proxy) else a))
            output.meta.update(self.graph.output_node().meta)
        assert isinstance(self.module, Module)
        return GraphModule(self.module, self.new_graph)
