"""Tracing by dispatch: running a function on tensors, and recording the ops that reach the kernels as a graph.

Symbolic tracing records what a program says; ``make_fx`` records what it does. The ops are those of ``torch.ops.aten``
below autograd, so that a backward pass is in the graph too, and control flow is what it was for these inputs.

Mirrors: torch/fx/experimental/proxy_tensor.py
Leaves out: symbolic shapes, fake tensors (tensors on the meta device serve), functionalization.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from reftorch._ops import OpOverload, ops
from reftorch._tensor import Tensor
from reftorch.fx._symbolic_trace import Tracer
from reftorch.fx.graph import Graph, _PyTreeCodeGen, _PyTreeInfo
from reftorch.fx.graph_module import GraphModule
from reftorch.fx.interpreter import Interpreter
from reftorch.fx.node import Node
from reftorch.fx.passes.shape_prop import _extract_tensor_metadata
from reftorch.fx.proxy import Proxy, Scope
from reftorch.nn import Module, Parameter
from reftorch.utils._python_dispatch import TorchDispatchMode
from reftorch.utils._pytree import tree_flatten, tree_unflatten

__all__ = ["DecompositionInterpreter", "PythonKeyTracer", "get_proxy_mode", "make_fx"]


class PythonKeyTracer(Tracer):
    """The tracer of ``make_fx``: it makes the nodes of ops, and enters every module.

    Mirrors torch/fx/experimental/proxy_tensor.py, ``PythonKeyTracer``.
    """

    def __init__(self) -> None:
        super().__init__(autowrap_modules=())
        self.root = Module()
        self.graph = Graph(tracer_cls=type(self))
        self.tensor_attrs = {}
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        # The tensors are kept alive, because the engine of autograd holds a tensor without its object of Python, and a
        # new object would have another id. So a trace needs the memory of all results.
        self._proxies: dict[int, tuple[Tensor, Proxy]] = {}

    def set_proxy(self, tensor: Tensor, proxy: Proxy) -> None:
        """Say which node's result a tensor is."""
        self._proxies[id(tensor)] = (tensor, proxy)

    def get_proxy(self, tensor: Tensor) -> Proxy | None:
        """Return the proxy of the node whose result a tensor is, or None for a tensor from outside."""
        found = self._proxies.get(id(tensor))
        return None if found is None else found[1]

    def unwrap_proxy(self, e: Any) -> Any:
        """Return the proxy of the node whose result a tensor is; return anything else as it is.

        Mirrors torch/fx/experimental/proxy_tensor.py, ``PythonKeyTracer.unwrap_proxy``.
        """
        proxy = self.get_proxy(e) if isinstance(e, Tensor) else None
        return e if proxy is None else proxy

    def create_arg(self, a: Any) -> Any:
        """Return the node of a tensor. A tensor from outside becomes a constant of the graph."""
        if not isinstance(a, Tensor):
            return super().create_arg(a)
        proxy = self.get_proxy(a)
        if proxy is not None:
            return proxy.node
        if isinstance(a, Parameter):
            name = self._path_of_parameter(a)
            if name is None:
                name = self.get_fresh_qualname("_param_constant")
                setattr(self.root, name, a)
            node = self.create_node("get_attr", name, (), {})
        else:
            node = super().create_arg(a)
        node.meta["val"] = _on_meta(a)
        return node


_modes: list[ProxyTorchDispatchMode] = []


class ProxyTorchDispatchMode(TorchDispatchMode):
    """Records the ops of a ``with`` block in the graph of a tracer.

    Mirrors torch/fx/experimental/proxy_tensor.py, ``ProxyTorchDispatchMode``.
    """

    def __init__(self, tracer: PythonKeyTracer, decompositions: dict[Any, Callable[..., Any]] | None = None) -> None:
        self.tracer = tracer
        self.decompositions = decompositions or {}

    def __enter__(self) -> ProxyTorchDispatchMode:
        _modes.append(self)
        return super().__enter__()

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        _modes.pop()
        super().__exit__(exc_type, exc_value, traceback)

    def __torch_dispatch__(
        self, func: OpOverload, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is ops.aten._local_scalar_dense.default:
            self._expect_constant(args[0])
            return func(*args)
        if func is ops.aten.lift_fresh.default:
            # A new tensor of numbers is a constant of the graph. The program gets a copy, because it may write to it.
            func = ops.aten.clone.default  # PyTorch records lift_fresh_copy, which does the same
        decomposition = self.decompositions.get(func)
        if decomposition is not None:
            with self:
                result = decomposition(*args, **kwargs)
            if result is not NotImplemented:
                return result
        tracer = self.tracer
        result = func(*args, **kwargs)
        name = tracer.graph._target_to_str(func.overloadpacket.__name__)
        proxy = tracer.create_proxy("call_function", func, args, kwargs, name=name)
        _track(tracer, result, proxy)
        return result

    def _expect_constant(self, tensor: Tensor) -> None:
        """Raise an error if the program reads a number that depends on its inputs, because the graph would keep it."""
        proxy = self.tracer.get_proxy(tensor)
        if proxy is not None and not _is_constant(proxy.node):
            raise RuntimeError(
                "It appears that you're trying to get value out of a tracing tensor with "
                "aten._local_scalar_dense.default - erroring out! It's likely that this is caused by data-dependent "
                "control flow or similar. Hint: the graph would hold for the values of this call only. Keep the number "
                "in a tensor (torch.where in place of if), or read it before make_fx and pass it on."
            )


def _is_constant(node: Node) -> bool:
    """Return whether a node depends on attributes alone. The result of a factory counts as a value of the program."""
    if node.op != "call_function":
        return node.op == "get_attr"
    inputs = node.all_input_nodes
    return bool(inputs) and all(_is_constant(each) for each in inputs)


def _track(tracer: PythonKeyTracer, result: Any, proxy: Proxy) -> None:
    """Note the nodes of the tensors in a result. After an in-place op the written argument belongs to its node."""
    if isinstance(result, Tensor):
        proxy.node.meta["val"] = _on_meta(result)
        proxy.node.meta["tensor_meta"] = _extract_tensor_metadata(result)
        tracer.set_proxy(result, proxy)
    elif isinstance(result, (tuple, list)):
        values = [_on_meta(item) for item in result]
        proxy.node.meta["val"] = values if isinstance(result, list) else tuple(values)
        for i, item in enumerate(result):
            if isinstance(item, Tensor):
                _track(tracer, item, proxy[i])  # type: ignore[index]


def _on_meta(value: Any) -> Any:
    """Return a tensor of the meta device with the geometry of a tensor; return anything else as it is."""
    return value.detach().to("meta") if isinstance(value, Tensor) else value


def get_proxy_mode() -> ProxyTorchDispatchMode | None:
    """Return the innermost mode that records, or None.

    Mirrors torch/fx/experimental/proxy_tensor.py, ``get_proxy_mode``.
    """
    return _modes[-1] if _modes else None


def make_fx(
    f: Callable[..., Any],
    decomposition_table: dict[Any, Callable[..., Any]] | None = None,
    tracing_mode: str = "real",
    *,
    record_module_stack: bool = False,
) -> Callable[..., GraphModule]:
    """Return a function that takes the arguments of ``f`` and returns a module with the ops that ``f`` runs on them.

    Args:
        f: the function, or a module.
        decomposition_table: maps ops to functions that compute them by other ops, which are recorded instead.
        tracing_mode: ``real`` computes with the tensors that are given. ``fake`` copies them to the meta device, where
            nothing is computed.
        record_module_stack: has no effect.

    Raises:
        ValueError: ``tracing_mode`` is ``symbolic``, which does not exist here, or is unknown.
        RuntimeError: (from the function that is returned) ``f`` reads a number of a tensor that depends on its inputs,
            for example in ``if x.sum() > 0``.

    Example:
        >>> from reftorch.fx.experimental.proxy_tensor import make_fx
        >>> def gradient(x):
        ...     y = (x * x).sum()
        ...     return torch.autograd.grad(y, x)[0]
        >>> module = make_fx(gradient)(torch.ones(2, requires_grad=True))
        >>> [node.name for node in module.graph.nodes if node.op == "call_function"]
        ['mul', 'sum_1', ...]
        >>> module(torch.tensor([3.0, 4.0]))
        tensor([6., 8.])

    Mirrors torch/fx/experimental/proxy_tensor.py, ``make_fx``.
    """
    if tracing_mode not in ("real", "fake"):
        raise ValueError(f"make_fx: tracing_mode must be 'real' or 'fake', got {tracing_mode!r}")

    def wrapped(*args: Any) -> GraphModule:
        tracer = PythonKeyTracer()
        names = _parameter_names(f, len(args))
        inputs = [_placeholders(tracer, name, arg, tracing_mode) for name, arg in zip(names, args, strict=True)]
        with ProxyTorchDispatchMode(tracer, decomposition_table):
            result = f(*inputs)
        in_spec = tree_flatten(args)[1]
        if any(child.type is not None for child in in_spec.children):
            # The graph's inputs and results are leaves, and its code flattens the arguments and rebuilds the result.
            result, out_spec = tree_flatten(result)
            tracer.graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(names, in_spec, out_spec)))
        tracer.create_node("output", "output", (tracer.create_arg(result),), {})
        return GraphModule(tracer.root, tracer.graph, getattr(f, "__name__", type(f).__name__))

    return wrapped


def _parameter_names(f: Callable[..., Any], count: int) -> list[str]:
    """Return the names of the parameters of a function, or ``arg0``, ``arg1``, ... if it takes them as ``*args``."""
    parameters = inspect.signature(f).parameters if callable(f) else {}
    named = len(parameters) == count and not any(p.kind is p.VAR_POSITIONAL for p in parameters.values())
    return list(parameters) if named else [f"arg{i}" for i in range(count)]


def _placeholders(tracer: PythonKeyTracer, name: str, arg: Any, tracing_mode: str) -> Any:
    """Make a placeholder for each leaf of an argument. Return the argument, of which ``fake`` copies the tensors."""
    leaves, spec = tree_flatten(arg)
    inputs = []
    for count, leaf in enumerate(leaves, 1):
        if isinstance(leaf, Tensor) and tracing_mode == "fake":
            leaf = leaf.detach().to("meta").requires_grad_(leaf.requires_grad)
        proxy = tracer.create_proxy("placeholder", f"{name}_{count}", (), {})
        if isinstance(leaf, Tensor):
            _track(tracer, leaf, proxy)
        inputs.append(leaf)
    return tree_unflatten(inputs, spec)


class DecompositionInterpreter(Interpreter):
    """Runs a graph of ops and records it again, with some ops computed by others.

    Args:
        module: the module.
        new_graph: the graph to record in.
        decomposition_table: maps ops to functions that compute them by other ops.
        kwargs: for :class:`~reftorch.fx.Interpreter`.

    Mirrors torch/fx/experimental/proxy_tensor.py, ``DecompositionInterpreter``.
    """

    def __init__(
        self,
        module: GraphModule,
        new_graph: Graph,
        decomposition_table: dict[Any, Callable[..., Any]] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(module, **kwargs)
        self.new_graph = new_graph
        self.tracer = PythonKeyTracer()
        self.tracer.graph, self.tracer.root = new_graph, module
        self.mode = ProxyTorchDispatchMode(self.tracer, decomposition_table)

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a placeholder."""
        value = super().placeholder(target, args, kwargs)
        if isinstance(value, Tensor):
            self.tracer.set_proxy(value, self.tracer.create_proxy("placeholder", target, args, kwargs))
        return value

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a read of an attribute."""
        value = super().get_attr(target, args, kwargs)
        if isinstance(value, Tensor):
            self.tracer.set_proxy(value, self.tracer.create_proxy("get_attr", target, args, kwargs))
        return value

    def output(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record the result."""
        self.tracer.create_node("output", "output", (self.tracer.create_arg(args[0]),), {})
        return super().output(target, args, kwargs)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run and record the graph."""
        with self.mode:
            return super().run(*args, **kwargs)
