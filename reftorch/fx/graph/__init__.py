"""Graphs: programs as lists of nodes.

Mirrors: torch/fx/graph.py
Leaves out: symbolic numbers; the table that makes ``find_nodes`` fast, in place of which the nodes are searched.

PyTorch has one file. Here ``namespace`` makes names for results, ``codegen`` and ``pytree_codegen`` write a graph as
Python code, ``operators`` says how code writes operators, and this file has the graph itself. This file is
more than 500 lines long because the class has many methods; each is short.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from reftorch import _places, _warnings
from reftorch._utils import typename
from reftorch.fx.graph.codegen import (  # noqa: F401
    CodeGen,
    PythonCode,
    TransformCodeFunc,
    _is_from_torch,
    _last_uses,
    _parse_stack_trace,
)
from reftorch.fx.graph.namespace import (  # noqa: F401
    _custom_builtins,
    _is_magic,
    _Namespace,
    _register_custom_builtin,
    _snake_case,
)
from reftorch.fx.graph.operators import inplace_methods, magic_methods, reflectable_magic_methods  # noqa: F401
from reftorch.fx.graph.pytree_codegen import _PyTreeCodeGen, _PyTreeInfo  # noqa: F401
from reftorch.fx.node import Node, Target, _iterate, _legal_ops, map_arg
from reftorch.nn import Module, Parameter

if TYPE_CHECKING:
    from reftorch.fx.graph_module import GraphModule

__all__ = ["CodeGen", "Graph", "PythonCode"]


class _node_list:
    """The nodes of a graph in order. A loop over them may insert nodes, and erase nodes.

    Mirrors torch/fx/graph.py, ``_node_list``.
    """

    def __init__(self, graph: Graph, direction: str = "_next") -> None:
        self.graph = graph
        self.direction = direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Any]:
        return _iterate(self.graph._root, backwards=self.direction == "_prev")

    def __reversed__(self) -> Iterator[Any]:
        return _iterate(self.graph._root, backwards=self.direction == "_next")


class _InsertPoint:
    """Sets the insertion point of a graph at once, and restores the former one at the end of a ``with`` block."""

    def __init__(self, graph: Graph, new_insert: Callable[[Node], None]) -> None:
        self.graph = graph
        self.orig_insert, graph._insert = graph._insert, new_insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        self.graph._insert = self.orig_insert


class Graph:
    """A program: a list of :class:`Node`, each of which uses results of nodes before it.

    Args:
        owning_module: the :class:`GraphModule` whose ``forward`` the graph is.
        tracer_cls: the class of the tracer that made the graph; unpickling needs it.
        tracer_extras: keyword arguments of that tracer's ``trace``.

    Example:
        >>> graph = torch.fx.Graph()
        >>> x = graph.placeholder("x")
        >>> y = graph.call_method("relu", (x,))
        >>> z = graph.call_function(torch.add, (y, 1))
        >>> _ = graph.output(z)
        >>> print(graph)
        graph():
            %x : [num_users=1] = placeholder[target=x]
            %relu : [num_users=1] = call_method[target=relu](args = (%x,), kwargs = {})
            %add : [num_users=1] = call_function[target=torch.add](args = (%relu, 1), kwargs = {})
            return add
        >>> print(graph.python_code("self").src.strip())
        def forward(self, x):
            relu = x.relu();  x = None
            add = torch.add(relu, 1);  relu = None
            return add

    Mirrors torch/fx/graph.py, ``Graph``.
    """

    owning_module: GraphModule | None

    def __init__(
        self,
        owning_module: GraphModule | None = None,
        tracer_cls: type | None = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:
        self._numbered = True  # whether the positions of the nodes are right, see _number_nodes
        self._root = Node(self, "", "root", "", (), {})  # the list is a ring; the root stands between end and beginning
        self._insert: Callable[[Node], None] = self._root.prepend
        self._len = 0
        self._graph_namespace = _Namespace()
        self.owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()
        self._co_fields: dict[str, Any] = {}  # name, file and line of the traced function

    # The list of nodes

    @property
    def nodes(self) -> _node_list:
        """The nodes in order; ``reversed(graph.nodes)`` goes backwards. A loop over the nodes may change the graph."""
        return _node_list(self)

    def _note_inserted(self, node: Node) -> None:
        """Number a node at the end of the list; a node elsewhere makes the numbers wrong."""
        if node._next is self._root:
            node._position = node._prev._position + 1
        else:
            self._numbered = False

    def _number_nodes(self) -> None:
        """Let ``a._position < b._position`` say that ``a`` comes before ``b``."""
        if not self._numbered:
            for position, node in enumerate(self.nodes, 1):
                node._position = position
            self._numbered = True

    def output_node(self) -> Node:
        """Return the output node, which is the last one.

        Raises:
            AssertionError: the last node is not an output.

        Mirrors torch/fx/graph.py, ``Graph.output_node``.
        """
        last = next(iter(reversed(self.nodes)))
        if last.op != "output":
            raise AssertionError(f"Expected output node, got {last.op}")
        return last

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Any]:
        """Return the nodes of one kind, in order.

        Args:
            op: the kind.
            target: their target; it may be None except for calls of functions.
            sort: PyTorch's table gives the nodes in another order if this is False.

        Raises:
            AssertionError: ``op`` is ``call_function`` and there is no target.

        Example:
            >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x) + torch.relu(x + 1)).graph
            >>> graph.find_nodes(op="call_function", target=torch.relu)
            [relu, relu_1]

        Mirrors torch/fx/graph.py, ``Graph.find_nodes``.
        """
        if op == "call_function" and target is None:
            raise AssertionError("target must not be None for call_function op")
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        name: str | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Make a node and insert it at the insertion point, which is the end unless ``inserting_before`` sets it.

        Args:
            op: the kind of node, see :class:`Node`.
            target: what is called or read.
            args, kwargs: the arguments.
            name: a name for the result; by default the name is made from ``target``. It becomes unique.
            type_expr: the annotation of the result.

        Raises:
            AssertionError: ``op`` is not a kind of node, or ``args`` is not a tuple, or ``kwargs`` is not a dict.
            ValueError: ``target`` is not a function, or not a string, as ``op`` requires.

        Mirrors torch/fx/graph.py, ``Graph.create_node``.
        """
        if args and not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if kwargs and not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        name = self._graph_namespace.create_name(name if name is not None else self._target_to_str(target), None)
        node = Node(self, name, op, target, args or (), kwargs or {}, type_expr)
        for hook in getattr(self.owning_module, "_create_node_hooks", ()):
            hook(node)
        self._graph_namespace.associate_name_with_obj(name, node)
        self._insert(node)
        self._len += 1
        return node

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node that no node uses.

        Raises:
            RuntimeError: nodes use the node, or the node belongs to another graph.

        Example:
            >>> graph = torch.fx.Graph()
            >>> x = graph.placeholder("x")
            >>> y = graph.call_function(torch.relu, (x,))
            >>> graph.erase_node(x)
            Traceback (most recent call last):
            ...
            RuntimeError: Tried to erase Node x but it still had 1 users in the graph: {relu: None}!
            >>> graph.erase_node(y)
            >>> list(graph.nodes)
            [x]

        Mirrors torch/fx/graph.py, ``Graph.erase_node``.
        """
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} "
                f"users in the graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            _warnings.warn(f"erase_node({to_erase}) on an already erased node")
            return
        for hook in getattr(self.owning_module, "_erase_node_hooks", ()):
            hook(to_erase)
        to_erase._remove_from_list()
        to_erase._erased = True  # a loop over the nodes that stands at this node goes on
        self._len -= 1
        to_erase._update_args_kwargs(map_arg(to_erase._args, lambda n: None), map_arg(to_erase._kwargs, lambda n: None))

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """Insert new nodes before a node: for good, or inside a ``with`` block.

        Args:
            n: the node; None stands for the beginning of the graph.

        Raises:
            AssertionError: the node belongs to another graph.

        Example:
            >>> graph = torch.fx.Graph()
            >>> x = graph.placeholder("x")
            >>> with graph.inserting_before(x):
            ...     _ = graph.placeholder("first")
            >>> list(graph.nodes)
            [first, x]

        Mirrors torch/fx/graph.py, ``Graph.inserting_before``.
        """
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """Insert new nodes after a node: for good, or inside a ``with`` block.

        Args:
            n: the node; None stands for the end of the graph.

        Raises:
            AssertionError: the node belongs to another graph.

        Mirrors torch/fx/graph.py, ``Graph.inserting_after``.
        """
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    def _clear_nodes(self) -> None:
        for node in reversed(self.nodes):
            node.meta.clear()
            self.erase_node(node)

    # One method for each kind of node

    def placeholder(
        self, name: str, type_expr: Any | None = None, default_value: Any = inspect.Signature.empty
    ) -> Node:
        """Insert a parameter of the function.

        Args:
            name: the parameter; ``*args`` and ``**kwargs`` keep their stars.
            type_expr: its annotation.
            default_value: its default; ``inspect.Signature.empty`` says that there is none.

        Mirrors torch/fx/graph.py, ``Graph.placeholder``.
        """
        args = () if default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any | None = None) -> Node:
        """Insert a node that reads an attribute of the module.

        A warning says where the owning module has no submodule, parameter or buffer of this name.

        Args:
            qualified_name: the path to the attribute, such as ``linear.weight``.
            type_expr: the annotation of the result.

        Mirrors torch/fx/graph.py, ``Graph.get_attr``.
        """
        if self.owning_module is not None and not _has_reference(self.owning_module, qualified_name):
            _warnings.warn(
                "Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule! "
                "Call GraphModule.add_submodule to add the necessary submodule, GraphModule.add_parameter to add the "
                "necessary Parameter, or nn.Module.register_buffer to add the necessary buffer",
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Insert a call of a submodule.

        Args:
            module_name: the path to the submodule.
            args, kwargs: the arguments.
            type_expr: the annotation of the result.

        Raises:
            AttributeError: the owning module has no such submodule.

        Mirrors torch/fx/graph.py, ``Graph.call_module``.
        """
        if self.owning_module is not None and self.owning_module.get_submodule(module_name) is None:
            _warnings.warn(
                "Attempted to insert a call_module Node with no underlying reference in the owning GraphModule! "
                "Call GraphModule.add_submodule to add the necessary submodule"
            )
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Insert a call of a method.

        Args:
            method_name: the method.
            args, kwargs: the arguments; the object whose method is called comes first.
            type_expr: the annotation of the result.

        Mirrors torch/fx/graph.py, ``Graph.call_method``.
        """
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any | None = None,
        name: str | None = None,
    ) -> Node:
        """Insert a call of a function.

        Args:
            the_function: the function.
            args, kwargs: the arguments.
            type_expr: the annotation of the result.
            name: a name for the result.

        Mirrors torch/fx/graph.py, ``Graph.call_function``.
        """
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def _read_geometry(self, tensor_node: Node, method: str, *dim: int) -> Node:
        node = self.call_method(method, (tensor_node, *dim))
        for key in ("val", "example_value"):
            if key in tensor_node.meta:
                node.meta[key] = getattr(tensor_node.meta[key], method)(*dim)
                break
        return node

    def create_size_node(self, tensor_node: Node, dim: int) -> Node:
        """Add a node that reads a size of another node's result when the graph runs.

        The node calls the method ``size``; PyTorch's calls ``torch.ops.aten.sym_size``. If the other node has a note of
        its result, in ``meta["val"]`` or ``meta["example_value"]``, the new node gets the size as its note.

        Example:
            >>> graph = torch.fx.Graph()
            >>> _ = graph.output(graph.create_size_node(graph.placeholder("x"), 1))
            >>> torch.fx.GraphModule({}, graph)(torch.ones(2, 3))
            3

        Mirrors torch/fx/graph.py, ``Graph.create_size_node``.
        """
        return self._read_geometry(tensor_node, "size", dim)

    def create_stride_node(self, tensor_node: Node, dim: int) -> Node:
        """Add a node that reads a stride of another node's result when the graph runs.

        Mirrors torch/fx/graph.py, ``Graph.create_stride_node``.
        """
        return self._read_geometry(tensor_node, "stride", dim)

    def create_storage_offset_node(self, tensor_node: Node) -> Node:
        """Add a node that reads the storage offset of another node's result when the graph runs.

        Mirrors torch/fx/graph.py, ``Graph.create_storage_offset_node``.
        """
        return self._read_geometry(tensor_node, "storage_offset")

    def materialize_symints(self, values: Sequence[int]) -> list[int]:
        """Return what stands for numbers in this graph. Integers stand for themselves, and there are no others here.

        In PyTorch, symbolic integers become nodes that compute them.

        Raises:
            TypeError: a value is no integer.

        Mirrors torch/fx/graph.py, ``Graph.materialize_symints``.
        """
        for value in values:
            if not isinstance(value, int):
                raise TypeError(f"materialize_symints: expected integers, got {type(value).__name__}")
        return list(values)

    def materialize_symint(self, value: int) -> int:
        """Return what stands for a number in this graph: see :meth:`materialize_symints`.

        Mirrors torch/fx/graph.py, ``Graph.materialize_symint``.
        """
        return self.materialize_symints([value])[0]

    def output(self, result: Any, type_expr: Any | None = None) -> Node:
        """Insert the ``return`` statement.

        Args:
            result: a node, or a structure of nodes and values.
            type_expr: the annotation of the function's result.

        Mirrors torch/fx/graph.py, ``Graph.output``.
        """
        return self.create_node(op="output", target="output", args=(result,), type_expr=type_expr)

    @staticmethod
    def _target_to_str(target: Target) -> str:
        if callable(target):
            return _snake_case(target.__name__)
        return _snake_case(target[2:-2] if _is_magic(target) else target)

    # Copies

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """Insert a copy of a node of another graph.

        Args:
            node: the node.
            arg_transform: takes a node among the arguments; returns the node of this graph that stands for it.

        Example:
            >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x)).graph
            >>> copied, env = torch.fx.Graph(), {}
            >>> for node in graph.nodes:
            ...     env[node] = copied.node_copy(node, lambda n: env[n])
            >>> list(copied.nodes)
            [x, relu, output]

        Mirrors torch/fx/graph.py, ``Graph.node_copy``.
        """
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = copy.copy(node.meta)
        copied._place = node._place
        return copied

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """Insert copies of all nodes of another graph, without its output.

        Args:
            g: the other graph.
            val_map: maps nodes of ``g`` to nodes of this graph, and gets the copies; a node in it is not copied.
            return_output_node: whether to return the output node of ``g`` too.

        Returns:
            What ``g`` returns, in nodes of this graph; None if ``g`` has no output.

        Mirrors torch/fx/graph.py, ``Graph.graph_copy``.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo: dict[Any, Any] | None = None) -> Graph:
        """Copy the nodes one after another: the default would recurse along the chain of nodes."""
        memo = memo if memo is not None else {}
        copied = Graph(tracer_cls=self._tracer_cls)
        val_map: dict[Node, Node] = {}
        returned = copied.graph_copy(self, val_map=val_map, return_output_node=True)
        copied._codegen = copy.deepcopy(self._codegen)
        copied._co_fields = dict(self._co_fields)
        if returned is not None:
            result, old_output = returned
            new_output = copied.output(result, type_expr=old_output.type)
            new_output.meta = copy.copy(old_output.meta)
            val_map[old_output] = new_output
        memo.update({id(node): new for node, new in val_map.items()})  # what refers to a node gets the node's copy
        return copied

    # Code

    def set_codegen(self, codegen: CodeGen) -> None:
        """Choose how the graph is written as a function.

        Mirrors torch/fx/graph.py, ``Graph.set_codegen``.
        """
        self._codegen = codegen

    def process_inputs(self, *args: Any) -> Any:
        """Return the values of the placeholders for the arguments of the generated function.

        Mirrors torch/fx/graph.py, ``Graph.process_inputs``.
        """
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """Return the result of the generated function for the value of the output node.

        Mirrors torch/fx/graph.py, ``Graph.process_outputs``.
        """
        return self._codegen.process_outputs(out)

    def python_code(
        self,
        root_module: str,
        *,
        verbose: bool = False,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        expanded_def: bool = False,
        record_func: bool = False,
        additional_meta: list[str] | None = None,
    ) -> PythonCode:
        """Write the graph as a function.

        Args:
            root_module: the name by which the function knows the module, usually ``self``.
            verbose: whether to add the lines of the traced program, and the dtypes and shapes that passes noted.
            include_stride, include_device: whether ``verbose`` adds strides and devices.
            colored: whether to color the text for a terminal.
            expanded_def: whether each parameter has a line of its own.
            record_func: whether the code marks each call for the profiler, with the position of the node: ``## 3 ##``.
            additional_meta: further notes of the nodes that ``verbose`` adds.

        Mirrors torch/fx/graph.py, ``Graph.python_code``.
        """
        # Code may name a node otherwise than the graph does, because names of global variables are taken as well.
        namespace = _Namespace()

        def name_in_code(node: Node) -> str:
            return namespace.create_name(node.name, node)

        former = [(node, node._repr_fn) for node in self.nodes]
        for node, _ in former:
            node._repr_fn = name_in_code
        try:
            return self._codegen._gen_python_code(
                self.nodes,
                root_module,
                namespace,
                verbose=verbose,
                include_stride=include_stride,
                include_device=include_device,
                colored=colored,
                expanded_def=expanded_def,
                record_func=record_func,
                additional_meta=additional_meta,
            )
        finally:
            for node, repr_fn in former:
                node._repr_fn = repr_fn

    @contextlib.contextmanager
    def _restore_transformer(self, former: TransformCodeFunc | None) -> Iterator[None]:
        try:
            yield
        finally:
            self._codegen._body_transformer = former

    def on_generate_code(
        self, make_transformer: Callable[[TransformCodeFunc | None], TransformCodeFunc]
    ) -> contextlib.AbstractContextManager[None]:
        """Change the body of the generated function, for good or inside a ``with`` block.

        Args:
            make_transformer: takes the transformer that is set, or None; returns the new one, which takes and returns
                the body, a list of pieces of text.

        Example:
            >>> module = torch.fx.symbolic_trace(lambda x: x + 1)
            >>> with module.graph.on_generate_code(lambda _: lambda body: ["print('called')\\n", *body]):
            ...     _ = module.recompile()
            >>> module(1)
            called
            2

        Mirrors torch/fx/graph.py, ``Graph.on_generate_code``.
        """
        former = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(former)
        return self._restore_transformer(former)

    # Text

    def __str__(self) -> str:
        placeholder_names: list[str] = []
        lines = [node.format_node(placeholder_names) for node in self.nodes]
        return "\n    ".join([f"graph({', '.join(placeholder_names)}):", *filter(None, lines)])

    def print_tabular(self) -> None:
        """Print the nodes as a table.

        Example:
            >>> torch.fx.symbolic_trace(lambda x: x.relu() + 1).graph.print_tabular()
            opcode         name    target                   args       kwargs
            -------------  ------  -----------------------  ---------  --------
            placeholder    x       x                        ()         {}
            call_method    relu    relu                     (x,)       {}
            call_function  add     <built-in function add>  (relu, 1)  {}
            output         output  output                   (add,)     {}

        Mirrors torch/fx/graph.py, ``Graph.print_tabular``, which needs the package tabulate.
        """
        print(
            _tabulate(
                [[n.op, n.name, n.target, n.args, n.kwargs] for n in self.nodes],
                headers=["opcode", "name", "target", "args", "kwargs"],
            )
        )

    # Checks

    def lint(self) -> None:
        """Check that the graph is well formed.

        Raises:
            RuntimeError: a node uses a node of another graph or of a later line; two nodes have one name; a target does
                not exist in the owning module.
            ValueError: the target of a node is neither a function nor a string, as its kind requires.

        Example:
            >>> graph = torch.fx.Graph()
            >>> x = graph.placeholder("x")
            >>> with graph.inserting_before(x):
            ...     _ = graph.call_function(torch.relu, (x,))
            >>> graph.lint()
            Traceback (most recent call last):
            ...
            RuntimeError: Argument 'x' of Node 'relu' was used before it has been defined! Please check that ...

        Mirrors torch/fx/graph.py, ``Graph.lint``.
        """
        seen_names: set[str] = set()
        seen_values: set[Node] = set()
        for node in self.nodes:
            if node.op not in _legal_ops or node.op == "root":
                raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for arg in node._input_nodes:
                self._check_argument(arg, node, seen_values)
            if node.name in seen_names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            seen_values.add(node)
            seen_names.add(node.name)
        if self.owning_module:
            for node in self.nodes:
                _check_target(self.owning_module, node)

    def _check_argument(self, arg: Node, node: Node, defined: set[Node]) -> None:
        if arg.graph is not self:
            raise RuntimeError(
                f"Argument '{arg}' of Node '{node}' does not belong to this Graph, but was used as an argument! If you "
                f"are copying nodes from another graph, make sure to use ``arg_transform`` on node_copy() to remap "
                f"values\n{self}"
            )
        if arg not in defined:
            raise RuntimeError(
                f"Argument '{arg}' of Node '{node}' was used before it has been defined! Please check that Nodes in "
                f"the graph are topologically ordered\n{self}"
            )

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Erase the nodes that no node uses and that have no side effect.

        Args:
            is_impure_node: returns whether a node has a side effect; by default ``Node.is_impure``, which does not
                know methods that write to their object.

        Returns:
            Whether a node was erased.

        Raises:
            RuntimeError: the graph is not well formed, see :meth:`lint`.

        Example:
            >>> def f(x):
            ...     unused = x + 1
            ...     return x * 2
            >>> graph = torch.fx.symbolic_trace(f).graph
            >>> graph.eliminate_dead_code(), list(graph.nodes)
            (True, [x, mul, output])

        Mirrors torch/fx/graph.py, ``Graph.eliminate_dead_code``.
        """
        self.lint()
        is_impure = is_impure_node or Node.is_impure
        changed = False
        for node in reversed(self.nodes):
            if not node.users and not is_impure(node):
                self.erase_node(node)
                changed = True
        if self.owning_module is not None:
            read = {node.target for node in self.find_nodes(op="get_attr")}
            for name, child in self.owning_module.named_children():
                if name in read and isinstance(getattr(child, "graph", None), Graph):
                    changed |= child.graph.eliminate_dead_code()
                    child.recompile()
        return changed


def _has_reference(module: Module, qualified_name: str) -> bool:
    """Return whether a path leads to a submodule, a parameter or a buffer."""
    path, _, name = qualified_name.rpartition(".")
    try:
        submodule = module.get_submodule(path)
    except AttributeError:
        _warnings.warn(f"Failed to fetch module {path}!")
        return False
    found = getattr(submodule, name, None)
    return isinstance(found, (Module, Parameter)) or name in submodule._buffers


def _check_target(owner: Module, node: Node) -> None:
    expected, right = ("Callable", callable) if node.op == "call_function" else ("str", lambda t: isinstance(t, str))
    if not right(node.target):
        raise ValueError(
            f"Node {node} target {node.target} has type {typename(node.target)} but a {expected} is expected"
        )
    if node.op not in ("get_attr", "call_module"):
        return
    atoms = str(node.target).split(".")
    found: Any = owner
    for i, atom in enumerate(atoms):
        found, place = getattr(found, atom, None), ".".join(atoms[:i])
        if found is None:
            raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {atom} of {place}")
        if node.op == "call_module" and not isinstance(found, Module):
            raise RuntimeError(f"Node {node} target {node.target} {atom} of {place} does not reference an nn.Module")


def _tabulate(rows: list[list[Any]], headers: list[str]) -> str:
    """Return the text of a table, as the package tabulate lays it out by default."""
    cells = [[str(cell).strip() for cell in row] for row in rows]
    widths = [
        max(len(headers[i]) + 2, *(len(row[i]) for row in cells)) if cells else len(headers[i]) + 2
        for i in range(len(headers))
    ]
    lines = [headers, ["-" * width for width in widths], *cells]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines)


_places.split(__name__)
