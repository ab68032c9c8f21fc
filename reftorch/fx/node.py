"""The nodes of a graph: each is one call, one parameter, or the result of the traced program.

Mirrors: torch/fx/node.py
Leaves out: symbolic numbers; the hooks that run when a node gets another name.

The nodes of a graph are a doubly linked list, because passes insert and remove nodes while they walk through the list.
PyTorch has the links and the bookkeeping of users in C++ (torch/csrc/fx/node.cpp). This file is more than 500
lines long because the class has many methods; each is short.
"""

from __future__ import annotations

import builtins
import inspect
import operator
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import reftorch
from reftorch import _C
from reftorch._ops import OpOverload, OpOverloadPacket, module_of_op
from reftorch._places import in_torch
from reftorch._tensor import Tensor
from reftorch._utils import typename
from reftorch.fx.immutable_collections import immutable_dict, immutable_list
from reftorch.fx.operator_schemas import ArgsKwargsPair, normalize_function, normalize_module
from reftorch.utils._dtype_abbrs import dtype_abbrs

if TYPE_CHECKING:
    from reftorch.fx.graph import Graph

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]

base_types: tuple[type, ...] = (
    str,
    int,
    float,
    bool,
    complex,
    reftorch.dtype,
    Tensor,
    reftorch.device,
    reftorch.memory_format,
    reftorch.layout,
    OpOverload,
)

Target = Callable[..., Any] | str
Argument = Any  # a node, a value of one of base_types, or a container of arguments

_legal_ops = ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root")

# Calls of these functions are kept although no node uses their results.
_side_effectful_functions: set[Callable[..., Any]] = {
    reftorch._assert,
    operator.setitem,
    _C._set_grad_enabled,
}

# These functions change the state of a random number generator.
_RANDOM_FUNCTIONS = {
    getattr(reftorch, name)
    for name in (
        "rand",
        "randn",
        "randint",
        "randperm",
        "rand_like",
        "randn_like",
        "randint_like",
        "normal",
        "poisson",
        "bernoulli",
        "multinomial",
    )
    if hasattr(reftorch, name)
}


def has_side_effect(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Register a function whose calls ``Graph.eliminate_dead_code`` keeps. Return the function.

    Example:
        >>> @torch.fx.has_side_effect
        ... def report(x):
        ...     print(x.shape)
        >>> graph = torch.fx.Graph()
        >>> x = graph.placeholder("x")
        >>> _ = graph.call_function(report, (x,)), graph.output(x)
        >>> graph.eliminate_dead_code(), len(graph.nodes)
        (False, 3)

    Mirrors torch/fx/node.py, ``has_side_effect``.
    """
    _side_effectful_functions.add(fn)
    return fn


# ---- names of functions and types in the text of a graph ----


def _find_module_of_method(orig_method: Callable[..., Any]) -> str:
    if isinstance(orig_method, type(_C._nn.linear)):
        return module_of_op(orig_method)
    module = getattr(orig_method, "__module__", None)
    if module is None:
        raise RuntimeError(f"cannot find module for {orig_method}")
    return _torch_name(module)


def _torch_name(module: str) -> str:
    """Return PyTorch's name of one of our modules; generated code calls this library ``torch``."""
    return in_torch(module, "")[0]


def _type_repr(obj: Any) -> str:
    """Return the text of a type annotation: ``int``, ``torch.Tensor``, or the repr of a generic type."""
    if isinstance(obj, type) and not isinstance(obj, types.GenericAlias):
        if obj.__module__ == "builtins":
            return obj.__qualname__
        return f"{_torch_name(obj.__module__)}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    if isinstance(obj, types.FunctionType):
        return obj.__name__
    return repr(obj)


def _get_qualified_name(func: Callable[..., Any]) -> str:
    name = func.__name__
    if getattr(builtins, name, None) is func:
        return name  # for example getattr
    if not name.startswith("<") and getattr(Tensor, name, None) is func and getattr(reftorch, name, None) is not func:
        return f"torch.Tensor.{name}"
    if name == "<lambda>":
        # The text before the first "=" of the source is the name to which the lambda was assigned.
        try:
            name = inspect.getsource(func).split("=")[0].strip()
        except Exception as e:
            raise RuntimeError("Unable to represent lambda") from e
    return f"{_find_module_of_method(func)}.{name}"


def _format_arg(arg: Any, max_list_len: float = float("inf")) -> str:
    if hasattr(arg, "_custom_fx_repr_fn"):
        return arg._custom_fx_repr_fn()
    if isinstance(arg, (list, tuple)):
        items = ", ".join(_format_arg(a) for i, a in enumerate(arg) if i < max_list_len)
        total = "" if len(arg) < max_list_len + 1 else f", ...[total_len={len(arg)}]"
        if isinstance(arg, list):
            return f"[{items}{total}]"
        return f"({items}{',' if len(arg) == 1 else ''}{total})"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{k}: {_format_arg(v)}" for k, v in arg.items()) + "}"
    return f"%{arg}" if isinstance(arg, Node) else str(arg)


# ---- walking through arguments ----


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """Apply a function to each node in a structure of tuples, lists, dicts and slices, and return the new structure.

    Args:
        a: an argument of a node, or a structure of arguments.
        fn: takes a node; its result takes the node's place.

    Returns:
        A structure of the same form, whose lists and dicts are immutable.

    Raises:
        AssertionError: ``fn`` is not callable.

    Example:
        >>> x = torch.fx.Graph().placeholder("x")
        >>> torch.fx.map_arg({"inputs": [x, 1]}, lambda node: node.name.upper())
        {'inputs': ['X', 1]}

    Mirrors torch/fx/node.py, ``map_arg``.
    """
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """Apply a function to each leaf of a structure of tuples, lists, dicts and slices, and return the new structure.

    Args:
        a: an argument of a node, or a structure of arguments.
        fn: takes a leaf: a node or any other object that is not a container.

    Returns:
        A structure of the same form, whose lists and dicts are immutable.

    Example:
        >>> from reftorch.fx.node import map_aggregate
        >>> map_aggregate((1, [2, {"a": 3}], slice(4, None)), lambda x: x and x * 10)
        (10, [20, {'a': 30}], slice(40, None, None))

    Mirrors torch/fx/node.py, ``map_aggregate``.
    """
    if isinstance(a, tuple):
        mapped = [map_aggregate(item, fn) for item in a]
        return type(a)(*mapped) if hasattr(a, "_fields") else tuple(mapped)
    if isinstance(a, list):
        return immutable_list([map_aggregate(item, fn) for item in a])
    if isinstance(a, dict):
        return immutable_dict([(key, map_aggregate(item, fn)) for key, item in a.items()])
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


class Node:
    """One step of the program that a :class:`Graph` holds. ``op`` says which kind of step:

    - ``placeholder``: a parameter of the function. ``target`` is the parameter's name; ``args`` holds its default.
    - ``get_attr``: reads an attribute of the module at the path ``target``, such as ``linear.weight``.
    - ``call_function``: calls ``target``, a function, with ``args`` and ``kwargs``.
    - ``call_module``: calls the submodule at the path ``target``.
    - ``call_method``: calls the method named ``target`` of ``args[0]`` with the other arguments.
    - ``output``: returns ``args[0]``.

    Attributes:
        name: the name of the result in generated code, unique in the graph.
        args, kwargs: the arguments; nodes among them stand for their results.
        users: the nodes that use the result. This dict serves as an ordered set.
        type: the annotation of the result, or None.
        meta: what passes note about the node. Copies of the node keep the notes.

    Example:
        >>> graph = torch.fx.Graph()
        >>> x = graph.placeholder("x")
        >>> y = graph.call_function(torch.relu, (x,))
        >>> y, y.op, y.args, y.target is torch.relu, list(x.users)
        (relu, 'call_function', (x,), True, [relu])

    Mirrors torch/fx/node.py, ``Node``.
    """

    graph: Graph
    name: str
    op: str
    target: Target
    type: Any
    meta: dict[str, Any]
    users: dict[Node, None]
    _args: tuple[Any, ...]
    _kwargs: dict[str, Any]
    _input_nodes: dict[Node, None]
    _prev: Node
    _next: Node
    _erased: bool
    _position: int
    _repr_fn: Callable[[Node], str] | None
    _place: tuple[str, int, str] | None

    def __init__(
        self,
        graph: Graph,
        name: str,
        op: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        return_type: Any = None,
    ) -> None:
        if op == "call_function":
            if not callable(target):
                raise ValueError(
                    f"Node [graph = {graph}, name = '{name}'] target {target} has type {typename(target)} "
                    "but a Callable is expected"
                )
        else:
            if op not in _legal_ops:
                raise AssertionError(f"op '{op}' is not in _legal_ops")
            if not isinstance(target, str):
                raise ValueError(
                    f"Node [graph = {graph}, name = '{name}'] target {target} has type {typename(target)} "
                    "but a str is expected"
                )
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self.type = return_type
        self.meta = {}
        self.users = {}
        self._input_nodes = {}
        self._prev = self._next = self
        self._erased = False
        self._position = 0  # see Graph._number_nodes
        self._repr_fn = None  # code generation names nodes by this function
        self._place = None  # file, line and function of the user's code that made the node, where a tracer knows them
        self._update_args_kwargs(args, kwargs)

    # The list of nodes

    @property
    def next(self) -> Node:
        """The next node of the graph; the graph's root node follows the last one."""
        return self._next

    @property
    def prev(self) -> Node:
        """The previous node of the graph."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Insert ``x`` before this node; ``x`` leaves its former place.

        Raises:
            AssertionError: ``x`` belongs to another graph.

        Example:
            >>> graph = torch.fx.Graph()
            >>> a, b = graph.placeholder("a"), graph.placeholder("b")
            >>> a.prepend(b)
            >>> list(graph.nodes), b < a
            ([b, a], True)

        Mirrors torch/fx/node.py, ``Node.prepend``.
        """
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is x:
            return
        x._remove_from_list()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x
        self.graph._note_inserted(x)

    def append(self, x: Node) -> None:
        """Insert ``x`` after this node; ``x`` leaves its former place.

        Mirrors torch/fx/node.py, ``Node.append``.
        """
        self._next.prepend(x)

    def _remove_from_list(self) -> None:
        # The node keeps its own links, so that a loop over the graph goes on after it erased this node.
        self._prev._next, self._next._prev = self._next, self._prev

    def _order(self) -> int:
        self.graph._number_nodes()
        return self._position

    def __lt__(self, other: Node) -> bool:
        """Whether this node comes before ``other`` in their graph."""
        return self._order() < other._order()

    def __gt__(self, other: Node) -> bool:
        return self._order() > other._order()

    def __le__(self, other: Node) -> bool:
        return self._order() <= other._order()

    def __ge__(self, other: Node) -> bool:
        return self._order() >= other._order()

    # Arguments and users

    @property
    def args(self) -> tuple[Any, ...]:
        """The positional arguments. Assignment updates the users of the nodes among them."""
        return self._args

    @args.setter
    def args(self, a: tuple[Any, ...]) -> None:
        self._update_args_kwargs(a, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The keyword arguments. Assignment updates the users of the nodes among them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k: dict[str, Any]) -> None:
        self._update_args_kwargs(self._args, k)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once, in order."""
        return list(self._input_nodes)

    def _update_args_kwargs(self, new_args: tuple[Any, ...], new_kwargs: dict[str, Any]) -> None:
        """Set the arguments. Node by node, ``a in n._input_nodes`` and ``n in a.users`` say the same thing."""
        for used in self._input_nodes:
            used.users.pop(self, None)
        inputs = self._input_nodes = {}

        def note(arg: Any) -> Any:
            if isinstance(arg, Node):
                inputs[arg] = None
                arg.users[self] = None
            return arg

        self._args = map_aggregate(new_args, note)
        self._kwargs = map_aggregate(new_kwargs, note) if new_kwargs else immutable_dict()

    def update_arg(self, idx: int, arg: Any) -> None:
        """Replace the positional argument at a position.

        Mirrors torch/fx/node.py, ``Node.update_arg``.
        """
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Insert a positional argument before the one at a position.

        Raises:
            AssertionError: the position is not between 0 and the number of arguments.

        Mirrors torch/fx/node.py, ``Node.insert_arg``.
        """
        if not 0 <= idx <= len(self.args):
            raise AssertionError(f"insert_args index must be between 0 and len(self.args), got {idx}")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Set one keyword argument.

        Mirrors torch/fx/node.py, ``Node.update_kwarg``.
        """
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Use ``new_input`` wherever the arguments of this node use ``old_input``.

        Mirrors torch/fx/node.py, ``Node.replace_input_with``.
        """
        for hook in getattr(self.graph.owning_module, "_replace_hooks", ()):
            hook(old=old_input, new=new_input.name, user=self)
        self._replace_input_with(old_input, new_input)

    def _replace_input_with(self, old_input: Node, new_input: Node) -> None:
        def replace(node: Node) -> Node:
            return new_input if node is old_input else node

        self._update_args_kwargs(map_arg(self._args, replace), map_arg(self._kwargs, replace))

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] | None = None,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Let the users of this node use another node instead.

        Args:
            replace_with: the other node.
            delete_user_cb: takes a user and returns whether to change it; by default all users change.
            propagate_meta: whether ``replace_with`` gets the notes of this node. It must not have notes of its own.

        Returns:
            The users that changed.

        Raises:
            AssertionError: ``propagate_meta`` is set and ``replace_with`` has notes.

        Example:
            >>> graph = torch.fx.Graph()
            >>> x, y = graph.placeholder("x"), graph.placeholder("y")
            >>> out = graph.call_function(torch.add, (x, x))
            >>> x.replace_all_uses_with(y), out.args
            ([add], (y, y))

        Mirrors torch/fx/node.py, ``Node.replace_all_uses_with``.
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), "
                    "but replace_with already has .meta keys"
                )
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users if delete_user_cb is None or delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    # Facts about the node

    @property
    def stack_trace(self) -> str | None:
        """The lines of the traced program that made the node, as a traceback, if the tracer recorded them."""
        return self.meta.get("stack_trace", None)

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random: bool = True) -> bool:
        """Return whether the node matters although no node uses its result.

        Placeholders and outputs do, modules with a true ``_is_impure``, functions that write to an argument, and
        random functions, because they change the generator.

        Args:
            impure_random: whether random ops count as impure; the functions such as ``torch.rand`` always do.

        Example:
            >>> graph = torch.fx.Graph()
            >>> graph.call_function(torch.rand, (2,)).is_impure(), graph.call_function(torch.ones, (2,)).is_impure()
            (True, False)

        Mirrors torch/fx/node.py, ``Node.is_impure``.
        """
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_module":
            if self.graph.owning_module is None:
                raise AssertionError("self.graph.owning_module not set for purity check")
            return getattr(self.graph.owning_module.get_submodule(str(self.target)), "_is_impure", False)
        if self.op == "call_function":
            target = self.target
            if isinstance(target, OpOverloadPacket) and "default" in target.overloads():
                target = target.default
            if isinstance(target, OpOverload):
                random = reftorch.Tag.nondeterministic_seeded in target.tags
                return target._schema.is_mutable or (random and impure_random) or target in _side_effectful_functions
            return target in _RANDOM_FUNCTIONS or target in _side_effectful_functions
        return False

    def normalized_arguments(
        self,
        root: Any,
        arg_types: tuple[Any, ...] | None = None,
        kwarg_types: dict[str, Any] | None = None,
        normalize_to_only_use_kwargs: bool = False,
    ) -> ArgsKwargsPair | None:
        """Return the arguments as the signature of the target names them, with defaults filled in.

        Args:
            root: the module in which the path of a ``call_module`` node is found.
            arg_types, kwarg_types: types of the arguments, which choose among the overloads of an op.
            normalize_to_only_use_kwargs: whether to name positional arguments too.

        Returns:
            The arguments, or None if the signature is not known.

        Example:
            >>> graph = torch.fx.Graph()
            >>> node = graph.call_function(torch.nn.functional.softmax, (graph.placeholder("x"), 1))
            >>> node.normalized_arguments(torch.nn.Module(), normalize_to_only_use_kwargs=True).kwargs
            {'input': x, 'dim': 1, '_stacklevel': 3, 'dtype': None}

        Mirrors torch/fx/node.py, ``Node.normalized_arguments``.
        """
        if self.op == "call_function":
            return normalize_function(
                self.target,  # type: ignore[arg-type]
                self.args,
                self.kwargs,
                arg_types,
                kwarg_types,
                normalize_to_only_use_kwargs=normalize_to_only_use_kwargs,
            )
        if self.op == "call_module":
            return normalize_module(
                root,
                self.target,  # type: ignore[arg-type]
                self.args,
                self.kwargs,
                normalize_to_only_use_kwargs=normalize_to_only_use_kwargs,
            )
        return None

    # Text

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn else self.name

    @staticmethod
    def _pretty_print_target(target: Any) -> str:
        if isinstance(target, str):
            return target
        module, name = getattr(target, "__module__", None), getattr(target, "__name__", None)
        if module == "builtins" and name is not None:
            return f"builtins.{name}"
        if module == "_operator" and name is not None:
            return f"operator.{name}"
        return _get_qualified_name(target)

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str | None:
        """Return one line that describes the node.

        Args:
            placeholder_names: a list that gets the names of placeholders, if the list is not empty. ``str(graph)``
                passes an empty list, as PyTorch does, so that each placeholder has a line.
            maybe_return_typename: a list of one string, which an annotated output replaces.
            include_tensor_metadata: whether to show the dtype, shape and strides that ``meta["val"]`` has.

        Returns:
            The line. None for a placeholder whose name went into a list that was not empty.

        Example:
            >>> graph = torch.fx.Graph()
            >>> graph.call_function(torch.add, (graph.placeholder("x"), 1)).format_node()
            '%add : [num_users=0] = call_function[target=torch.add](args = (%x, 1), kwargs = {})'

        Mirrors torch/fx/node.py, ``Node.format_node``.
        """
        annotation = f"{_type_repr(self.type)} " if self.type is not None else ""
        head = f"%{self.name} : {annotation}[num_users={len(self.users)}] = {self.op}"
        target = f"[target={self._pretty_print_target(self.target)}]"
        if self.op == "placeholder":
            if placeholder_names:
                placeholder_names.append(str(self.target))
                return None
            return head + target + (f"(default={self.args[0]})" if self.args else "")
        if self.op == "get_attr":
            return head + target
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {_type_repr(self.type)}"
            return f"return {self.args[0]}"
        meta = self.meta.get("val", self.meta.get("tensor_meta", self.meta.get("example_value")))
        if include_tensor_metadata and isinstance(meta, Tensor):
            shape, stride = (f"[{', '.join(map(str, sizes))}]" for sizes in (meta.shape, meta.stride()))
            annotation = f'Tensor "{dtype_abbrs[meta.dtype]}{shape}{stride}{meta.device}"'
            head = f"%{self.name} : {annotation}[num_users={len(self.users)}] = {self.op}"
        return f"{head}{target}(args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)})"

    def _rename(self, candidate: str) -> None:
        """Give the node a name that is like ``candidate`` and unique."""
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)
            self.graph._graph_namespace._rename_object(self, self.name)


def _iterate(root: Node, *, backwards: bool) -> Iterator[Node]:
    """Yield the nodes of a list. The caller may insert nodes, and erase the node that it has."""
    node = root._prev if backwards else root._next
    while node is not root:
        if not node._erased:
            yield node
        node = node._prev if backwards else node._next
