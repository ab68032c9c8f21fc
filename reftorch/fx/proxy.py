"""Proxies: the values of a traced program, which record what the program does with them.

A proxy has the operators of Python and the methods of tensors. Each makes a node in the tracer's graph and returns a
proxy of the node. A function of this library finds the proxy among its arguments and calls ``__torch_function__``,
which does the same; see Note [torch_function] in cpp/csrc/python_torch_function.h.

Mirrors: torch/fx/proxy.py
Leaves out: symbolic numbers, fake tensors (``MetaProxy``), functions of TorchScript, higher-order operators. The file
    is more than 500 lines long because each way in which a program may use a value has its method.
"""

from __future__ import annotations

import copy
import dis
import enum
import inspect
import logging
import operator
import sys
import traceback
import types
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NoReturn

import reftorch
from reftorch.fx import traceback as fx_traceback
from reftorch.fx.graph import Graph, magic_methods, reflectable_magic_methods
from reftorch.fx.node import Node, Target, base_types, map_aggregate, map_arg
from reftorch.fx.operator_schemas import check_for_mutable_operation
from reftorch.nn import Parameter
from reftorch.overrides import is_tensor_method_or_property

__all__ = [
    "Attribute",
    "GraphAppendingTracer",
    "ParameterProxy",
    "Proxy",
    "Scope",
    "ScopeContextManager",
    "TraceError",
    "TracerBase",
]

log = logging.getLogger(__name__)

# Where the library's files are: what stands elsewhere is the user's code.
_LIBRARY = str(Path(reftorch.__file__).parent) + "/"


class Scope:
    """The module whose ``forward`` the tracer is in: its path and its class.

    Mirrors torch/fx/proxy.py, ``Scope``.
    """

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path = module_path
        self.module_type = module_type


class ScopeContextManager:
    """Changes a scope at once, and restores it at the end of a ``with`` block.

    Example:
        >>> from reftorch.fx.proxy import Scope, ScopeContextManager
        >>> scope = Scope("", None)
        >>> with ScopeContextManager(scope, Scope("layer", int)):
        ...     print(scope.module_path)
        layer
        >>> scope.module_path
        ''

    Mirrors torch/fx/proxy.py, ``ScopeContextManager``.
    """

    def __init__(self, scope: Scope, current_scope: Scope) -> None:
        self._prev_scope = copy.copy(scope)
        scope.module_path, scope.module_type = current_scope.module_path, current_scope.module_type
        self._scope = scope

    def __enter__(self) -> Scope:
        return self._scope

    def __exit__(self, *args: object) -> None:
        self._scope.module_path = self._prev_scope.module_path
        self._scope.module_type = self._prev_scope.module_type


_PLAIN_TYPES = {int, float, bool, str, type(None)}

# Notes of the node that is being run, which a node made from it takes over.
_COPY_META_FIELDS = (
    "nn_module_stack",
    "torch_fn",
    "source_fn_stack",
    "original_aten",
    "recompute",
    "from_node",
    "custom",
    "partitioner_tag",
)


class TracerBase:
    """Makes nodes: what tracers and :class:`Proxy` share.

    Mirrors torch/fx/proxy.py, ``TracerBase``.
    """

    graph: Graph
    record_stack_traces: bool = False  # whether nodes get stack traces
    _record_forward_stack_traces_only: bool = False  # whether these have only the frames of functions named forward
    check_mutable_operations: bool = False  # whether to raise an error where a function writes to an argument
    trace_asserts: bool = False  # whether `assert proxy` records a call
    proxy_buffer_attributes: bool = False  # whether a module's buffers become get_attr nodes where they are read
    traced_func_name: str = "forward"  # the method of the module that is traced

    scope: Scope
    module_stack: OrderedDict[str, tuple[str, Any]]  # the modules whose forward the tracer is in
    node_name_to_scope: dict[str, tuple[str, type]]

    def create_node(
        self,
        kind: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Insert a node. Subclasses override this method to check or change what is recorded.

        Args:
            kind, target, args, kwargs, name, type_expr: as ``Graph.create_node`` takes them.

        Raises:
            RuntimeError: ``check_mutable_operations`` is set, and the function writes to an argument.

        Mirrors torch/fx/proxy.py, ``TracerBase.create_node``.
        """
        if kind == "call_function" and self.check_mutable_operations:
            check_for_mutable_operation(target, args, kwargs)  # type: ignore[arg-type]
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = (self.scope.module_path, self.scope.module_type)
        if fx_traceback.should_preserve_node_meta:
            current = fx_traceback.get_current_meta()
            if current.get("stack_trace"):
                node.stack_trace = current["stack_trace"]
            for field in _COPY_META_FIELDS:
                if field in current:
                    node.meta[field] = copy.copy(current[field])
        elif self.module_stack:
            node.meta["nn_module_stack"] = self.module_stack.copy()
        frame = self._find_user_frame()
        if frame is not None:
            node._place = (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        if self.record_stack_traces and not node.stack_trace:
            frames = self._filter_traceback_frames(traceback.extract_stack())
            if frames:
                node.stack_trace = "".join(frames.format()).strip()
        return node

    def _find_user_frame(self) -> types.FrameType | None:
        """Return the innermost frame of code that is not the library's."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(_LIBRARY):
            frame = frame.f_back  # type: ignore[assignment]
        return frame

    def _filter_traceback_frames(self, user_stack_summary: traceback.StackSummary) -> traceback.StackSummary:
        """Return the frames that a stack trace shows: those from the first ``forward`` on that are the user's."""
        frames = list(user_stack_summary)
        if self._record_forward_stack_traces_only:
            frames = [frame for frame in frames if frame.name == "forward"]
        else:
            first = next((i for i, frame in enumerate(frames) if frame.name == "forward"), len(frames))
            frames = frames[first:]
        return traceback.StackSummary.from_list([f for f in frames if not f.filename.startswith(_LIBRARY)])

    def proxy(self, node: Node) -> Proxy:
        """Return a proxy of a node. Subclasses override this method to use a class of their own.

        Mirrors torch/fx/proxy.py, ``TracerBase.proxy``.
        """
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any | None = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """Insert a node whose arguments may be proxies, and return its proxy.

        Args:
            kind, target, name, type_expr: as ``Graph.create_node`` takes them.
            args, kwargs: the arguments: proxies, values and structures of both.
            proxy_factory_fn: makes the proxy from the node; by default :meth:`proxy`.

        Mirrors torch/fx/proxy.py, ``TracerBase.create_proxy``.
        """
        args_, kwargs_ = self.create_arg(args), self.create_arg(kwargs)
        if not isinstance(args_, tuple):
            raise AssertionError(f"Expected args_ to be tuple, got {type(args_)}")
        if not isinstance(kwargs_, dict):
            raise AssertionError(f"Expected kwargs_ to be dict, got {type(kwargs_)}")
        node = self.create_node(kind, target, args_, kwargs_, name, type_expr)
        return proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)

    def create_arg(self, a: Any) -> Any:
        """Return what a node holds for a value among the arguments of a recorded call.

        A proxy becomes its node, and the containers that hold it become containers of nodes. Numbers, strings, dtypes
        and the like stay as they are. Subclasses override this method for types of their own.

        Raises:
            NotImplementedError: a node cannot hold a value of this type.
            RuntimeError: the key of a dict contains a node.

        Mirrors torch/fx/proxy.py, ``TracerBase.create_arg``.
        """
        if isinstance(a, Proxy):
            return a.node
        if type(a) in _PLAIN_TYPES:
            return a
        if type(a) is tuple:
            return tuple([self.create_arg(item) for item in a])
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(item) for item in a]
            return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
        if isinstance(a, list):
            return [self.create_arg(item) for item in a]
        if isinstance(a, dict):
            return {self._create_key(key): self.create_arg(item) for key, item in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if is_dataclass(a):
            kwargs = {field.name: self.create_arg(getattr(a, field.name)) for field in fields(a)}
            return self.create_node("call_function", type(a), (), kwargs)
        if isinstance(a, (*base_types, enum.Enum)) or a is None or a is ...:
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _create_key(self, key: Any) -> Any:
        if isinstance(key, str):
            return key
        key = self.create_arg(key)
        map_arg(key, _no_nodes_error)
        return key

    def to_bool(self, obj: Proxy) -> bool:
        """Return the truth value of a proxy. A subclass may know it; by default this is an error.

        Raises:
            TraceError: always.

        Mirrors torch/fx/proxy.py, ``TracerBase.to_bool``.
        """
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """Return an iterator over a proxy. A subclass may know its length; by default this is an error.

        Raises:
            TraceError: always.

        Mirrors torch/fx/proxy.py, ``TracerBase.iter``.
        """
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or "
            "**kwargs function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what "
            "types of control flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy "
            "iteration errors"
        )

    def keys(self, obj: Proxy) -> Any:
        """Return the keys of a proxy, as ``**proxy`` asks for them. A subclass may know them.

        Mirrors torch/fx/proxy.py, ``TracerBase.keys``.
        """
        return Attribute(obj, "keys")()


def _no_nodes_error(arg: Any) -> NoReturn:
    raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {arg}")


class GraphAppendingTracer(TracerBase):
    """The tracer of a proxy that was made by hand: it inserts nodes into the graph of the proxy's node.

    Mirrors torch/fx/proxy.py, ``GraphAppendingTracer``.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        self.node_name_to_scope = {}


def assert_fn(x: Any) -> None:
    """Raise an AssertionError if ``x`` is false: the call that stands for a traced ``assert``.

    Mirrors torch/fx/proxy.py, ``assert_fn``.
    """
    if not x:
        raise AssertionError("Assertion failed")


class TraceError(ValueError):
    """The traced program needs the value of a proxy.

    Mirrors torch/fx/proxy.py, ``TraceError``.
    """


def _unpacked_count(frame: types.FrameType) -> int | None:
    """Return how many items a frame is about to unpack, as ``a, b = x`` does; None if the frame does not unpack.

    The bytes of the code are read directly: ``dis`` would decode the whole function for each unpacking.
    """
    code, position = frame.f_code.co_code, frame.f_lasti
    if dis.opname[code[position]] != "UNPACK_SEQUENCE":
        return None
    count, shift = code[position + 1], 0
    while position >= 2 and code[position - 2] == dis.EXTENDED_ARG:  # further bytes of the count come before
        position, shift = position - 2, shift + 8
        count |= code[position + 1] << shift
    return count


def _instructions_from(frame: types.FrameType) -> list[dis.Instruction]:
    """Return the instructions of a frame from the one that it executes."""
    instructions = list(dis.get_instructions(frame.f_code))
    return instructions[bisect_left([i.offset for i in instructions], frame.f_lasti) :]


class Proxy:
    """A value of a traced program. What the program does with the value becomes nodes of a graph.

    A proxy can also be made by hand, around a node, in order to insert nodes by writing expressions.

    Args:
        node: the node whose result the proxy stands for.
        tracer: makes the nodes; by default they go to the graph of ``node``.

    Example:
        >>> graph = torch.fx.Graph()
        >>> x = torch.fx.Proxy(graph.placeholder("x"))
        >>> y = torch.relu(x).sum(dim=1) + x.shape[0]
        >>> y, list(graph.nodes)
        (Proxy(add), [x, relu, sum_1, getattr_1, getitem, add])

    Mirrors torch/fx/proxy.py, ``Proxy``.
    """

    node: Node

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = tracer if tracer is not None else GraphAppendingTracer(node.graph)
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        # There is no node yet: if the program calls the attribute, the call becomes a call_method node.
        return Attribute(self, k)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __setstate__(self, d: dict[str, Any]) -> None:
        self.__dict__ = d

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        for key, value in self.__dict__.items():
            try:
                copied.__dict__[key] = copy.deepcopy(value, memo)
            except Exception:  # for example a tracer that holds modules of Python
                log.warning(
                    "Shallow copy %s of Proxy because it cannot be deepcopied. Proxy is created for node %s",
                    key,
                    self.node.name,
                )
                copied.__dict__[key] = copy.copy(value)
        return copied

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        # `a, b = proxy` says how many items there are; a loop does not.
        frame = inspect.currentframe()
        assert frame is not None and frame.f_back is not None
        count = _unpacked_count(frame.f_back)
        if count is None:
            return self.tracer.iter(self)
        return (self[i] for i in range(count))  # type: ignore[index]

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        frame = inspect.currentframe()
        assert frame is not None and frame.f_back is not None
        if self.tracer.trace_asserts and _is_assert(frame.f_back, self.node.target):
            self.tracer.create_proxy("call_function", assert_fn, (self,), {})
            return True
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """Return the keys, as ``**proxy`` asks for them; see ``TracerBase.keys``.

        Mirrors torch/fx/proxy.py, ``Proxy.keys``.
        """
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "torch.fx.wrap('len') at module scope"
        )

    @classmethod
    def __torch_function__(
        cls,
        orig_method: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> Proxy:
        """Record the call of a function or of a method of tensors.

        Args:
            orig_method: the function that the program called.
            types: the classes among the arguments that override functions.
            args, kwargs: the arguments.

        Raises:
            RuntimeError: the arguments have proxies of several tracers.

        Mirrors torch/fx/proxy.py, ``Proxy.__torch_function__``.
        """
        args, kwargs = args or (), kwargs or {}
        tracers: dict[TracerBase, None] = {}

        def note_tracer(a: Any) -> None:
            if isinstance(a, cls):
                tracers[a.tracer] = None

        map_aggregate(args, note_tracer)
        if kwargs:
            map_aggregate(kwargs, note_tracer)
        if len(tracers) > 1:
            raise RuntimeError(
                f"Found multiple different tracers {list(tracers)} while trying to trace operations {orig_method}"
            )
        tracer = next(iter(tracers))
        if is_tensor_method_or_property(orig_method):
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        name = tracer.graph._target_to_str(orig_method.__name__)
        return tracer.create_proxy("call_function", orig_method, args, kwargs, name=name)


_COMPARISONS: dict[str, Callable[..., Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}


def _is_assert(frame: types.FrameType, target: Any) -> bool:
    """Return whether a frame is about to jump over the ``raise`` of an ``assert`` statement.

    Up to Python 3.12 the jump itself asks for the truth value. From 3.13 on the instruction before the jump does:
    ``TO_BOOL`` or a comparison, and from 3.14 on a ``NOT_TAKEN`` follows the jump. A comparison of lists asks for the
    truth value too, of the items that it compares by ``==``; so ``target``, the function of the proxy's node, has to
    be that of the comparison.
    """
    passive = ("NOT_TAKEN", "EXTENDED_ARG")
    asks, *following = [each for each in _instructions_from(frame)[:5] if each.opname not in passive]
    if asks.opname == "TO_BOOL" or (
        asks.argrepr == f"bool({asks.argval})" and _COMPARISONS.get(str(asks.argval)) is target
    ):
        asks, *following = following
    return (
        asks.opname in ("POP_JUMP_IF_TRUE", "POP_JUMP_FORWARD_IF_TRUE")
        and bool(following)
        and (following[0].opname == "LOAD_ASSERTION_ERROR" or following[0].argrepr == "AssertionError")
    )


class Attribute(Proxy):
    """An attribute of a proxy. It becomes a node where the program uses it as a value, not where the program calls it.

    Mirrors torch/fx/proxy.py, ``Attribute``.
    """

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node that reads the attribute."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A proxy of a parameter that answers questions about the parameter's shape, so that the program may branch on it.

    Mirrors torch/fx/proxy.py, ``ParameterProxy``.
    """

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Parameter) -> None:
        super().__init__(node, tracer)
        if not isinstance(param, Parameter):
            raise AssertionError(f"Expected Parameter, got {type(param)}")
        self.param = param
        self.name = name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        """The shape of the parameter."""
        return self.param.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions of the parameter."""
        return self.param.ndim

    def size(self) -> Any:
        """Return the shape of the parameter."""
        return self.param.size()

    def dim(self) -> int:
        """Return the number of dimensions of the parameter."""
        return self.param.dim()

    def numel(self) -> int:
        """Return the number of elements of the parameter."""
        return self.param.numel()

    def nelement(self) -> int:
        """Return the number of elements of the parameter."""
        return self.param.nelement()


def _define_operators() -> None:
    """Give Proxy the operators: ``x + y`` records ``operator.add(x, y)``, and so does ``1 + y``."""

    def operator_method(function: Any, name: str, *, reflected: bool) -> Callable[..., Any]:
        def operands(*args: Any) -> Proxy:
            return args[0].tracer.create_proxy("call_function", function, args[::-1] if reflected else args, {})

        operands.__name__ = operands.__qualname__ = name
        return operands

    for method in magic_methods:
        if method == "div":  # an operator of Python 2
            continue
        plain = method.strip("_")
        function = getattr(operator, method)
        setattr(Proxy, f"__{plain}__", operator_method(function, method, reflected=False))
        if method in reflectable_magic_methods:
            setattr(Proxy, f"__r{plain}__", operator_method(function, f"__r{plain}__", reflected=True))


_define_operators()
