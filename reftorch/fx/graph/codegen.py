"""Writing a graph as a Python function.

Mirrors: torch/fx/graph.py (``CodeGen``, ``PythonCode``)
Leaves out: symbolic numbers, distributed tensors.

The text is the same as PyTorch's: it calls this library ``torch``, because the ``repr`` of dtypes and devices does so,
and it assigns None to each value after the value's last use, so that memory is freed as early as in the traced program.
"""

from __future__ import annotations

import enum
import inspect
import keyword
import os
import pprint
import re
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import reftorch
from reftorch._ops import OpOverload, OpOverloadPacket
from reftorch._places import is_ours
from reftorch._tensor import Tensor
from reftorch.fx.graph.namespace import _custom_builtins, _Namespace
from reftorch.fx.graph.operators import inplace_methods, magic_methods
from reftorch.fx.node import Node, _get_qualified_name, _type_repr
from reftorch.fx.tensor_type import TensorType
from reftorch.utils._dtype_abbrs import dtype_abbrs

# A function that changes the body of the generated function, a list of pieces of text.
TransformCodeFunc = Callable[[list[str]], list[str]]

# Generic types of ``typing`` appear in generated code under their names there: ``typing_List[int]``.
_origin_type_map: dict[Any, Any] = {
    list: typing.List,  # noqa: UP006
    dict: typing.Dict,  # noqa: UP006
    set: typing.Set,  # noqa: UP006
    frozenset: typing.FrozenSet,  # noqa: UP006
    tuple: typing.Tuple,  # noqa: UP006
}

_color_codes = {
    "red": "\033[31m",
    "blue": "\033[34m",
    "dim": "\033[2m",
    "dim_blue": "\033[2m\033[34m",
    "dim_green": "\033[2m\033[32m",
}

_counter_regexp = re.compile(r"# COUNTER: (\d+)")


@dataclass
class PythonCode:
    """A graph as Python code.

    Attributes:
        src: the source of the function ``forward``.
        globals: the global variables that the source uses.
        _lineno_map: maps lines of the function, counted from the first line after ``def``, to positions of nodes.
        _prologue_start: the line of ``def`` in the source.

    Mirrors torch/fx/graph.py, ``PythonCode``.
    """

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] | None
    _prologue_start: int = 0


def _is_from_torch(obj: Any) -> bool:
    """Return whether generated code can reach an object as ``torch.`` and its qualified name."""
    if isinstance(obj, (OpOverload, OpOverloadPacket)):
        return True
    return is_ours(getattr(obj, "__module__", None))


def _format_target(base: str, target: str) -> str:
    """Return the expression that reads the attribute at a path."""
    for name in target.split("."):
        is_word = name.isidentifier() and not keyword.iskeyword(name)
        base = f"{base}.{name}" if is_word else f'getattr({base}, "{name}")'
    return base


class _ParsedStackTrace(NamedTuple):
    """The innermost frame of a stack trace."""

    file: str
    lineno: str
    name: str
    code: str

    def get_summary_str(self) -> str:
        return f"File: {self.file}:{self.lineno} in {self.name}, code: {self.code}"


def _parse_stack_trace(
    stack_trace: str | None, filter_fn: Callable[[str, str, str], bool] | None = None
) -> _ParsedStackTrace | None:
    lines = (stack_trace or "").strip().split("\n")
    for i in range(len(lines) - 2, -1, -1):
        if match := re.match(r"^File \"(.+)\", line (\d+), in (.+)$", lines[i].strip()):
            frame = _ParsedStackTrace(*match.groups(), code=lines[i + 1].strip())  # type: ignore[misc]
            if filter_fn is None or filter_fn(frame.file, frame.name, frame.code):
                return frame
    return None


def _sizes(sizes: Iterable[Any]) -> str:
    return f"[{', '.join(map(str, sizes))}]"


class _Writer:
    """The state of one run of a code generator: the text so far, and the names and globals in the text."""

    def __init__(
        self,
        codegen: CodeGen,
        root_module: str,
        namespace: _Namespace,
        *,
        verbose: bool,
        include_stride: bool,
        include_device: bool,
        colored: bool,
        expanded_def: bool,
        additional_meta: list[str] | None,
    ) -> None:
        self.codegen = codegen
        self.root_module = root_module
        self.namespace = namespace
        self.verbose = verbose
        self.include_stride = include_stride or os.environ.get("FX_GRAPH_SHOW_STRIDE", "0") == "1"
        self.include_device = include_device or os.environ.get("FX_GRAPH_SHOW_DEVICE", "0") == "1"
        self.include_meta = os.environ.get("FX_GRAPH_SHOW_META", "0") == "1"
        self.colored = colored
        self.expanded_def = expanded_def
        self.additional_meta = additional_meta or []
        self.free_vars: list[str] = []
        self.body: list[str] = []
        self.globals: dict[str, Any] = {}
        self.wrapped_fns: dict[str, None] = {}
        self.return_annotation = ""
        self.last_summary: str | None = None
        for name, (_, obj) in _custom_builtins.items():
            self.add_global(name, obj)

    def color(self, name: str, text: str) -> str:
        return f"{_color_codes[name]}{text}\033[0m" if self.colored else text

    def add_global(self, name_hint: str, obj: Any) -> str:
        """Make an object a global variable of the code. Return the expression that names it."""
        if _is_from_torch(obj) and obj != reftorch.device:
            return _get_qualified_name(obj)
        name = self.namespace.create_name(name_hint, obj)
        if name in self.globals and self.globals[name] is not obj and self.globals[name] != obj:
            raise AssertionError(f"Global name {name} already assigned to different object")
        self.globals.setdefault(name, obj)
        return name

    def type_repr(self, o: Any) -> str:
        """Return the text of an annotation, whose parts become global variables."""
        if o == ():  # of tuple[()]
            return "()"
        typename = _type_repr(o)
        if isinstance(o, types.UnionType):
            return "|".join(self.type_repr(arg) for arg in typing.get_args(o))
        origin = getattr(o, "__origin__", None)
        if not origin:
            return self.add_global(typename, o)
        if isinstance(o, typing._GenericAlias):  # type: ignore[attr-defined]
            origin = _origin_type_map.get(origin, origin)
        name = self.add_global(_type_repr(origin), origin)
        arguments = o.__args__ if isinstance(o, TensorType) else typing.get_args(o)
        return f"{name}[{','.join(map(self.type_repr, arguments))}]" if arguments else name

    def repr_arg(self, arg: Any) -> str:
        """Return the expression of an argument."""
        if isinstance(arg, Node):
            return repr(arg)
        if isinstance(arg, tuple) and hasattr(arg, "_fields"):
            return f"{self.add_global(_get_qualified_name(type(arg)), type(arg))}{tuple(arg)!r}"
        if isinstance(arg, OpOverload):
            return self.add_global(_get_qualified_name(arg), arg)
        if isinstance(arg, enum.Enum):
            return f"{self.add_global(type(arg).__name__, type(arg))}.{arg.name}"
        if isinstance(arg, Tensor):
            return f"torch.Tensor(size={list(arg.size())}, dtype={str(arg.dtype).split('.')[-1]})"
        if isinstance(arg, tuple):
            return f"({self.repr_arg(arg[0])},)" if len(arg) == 1 else f"({', '.join(map(self.repr_arg, arg))})"
        if isinstance(arg, list):
            return f"[{', '.join(map(self.repr_arg, arg))}]"
        if isinstance(arg, slice):
            return f"slice({', '.join(map(self.repr_arg, (arg.start, arg.stop, arg.step)))})"
        return self.color("blue", repr(arg))

    def format_args(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        return ", ".join([*map(self.repr_arg, args), *(f"{k} = {self.repr_arg(v)}" for k, v in kwargs.items())])

    # One node

    def write_node(self, node: Node) -> None:
        """Write the line of a node, without the end of the line."""
        annotation = f" : {self.type_repr(node.type)}" if node.type is not None else ""
        if self.verbose:
            annotation = self.tensor_annotation(node) or annotation
        if self.include_meta and node.meta:
            entries = [f"{k}: {pprint.pformat(str(v), width=80, compact=True)}\n" for k, v in node.meta.items()]
            self.body += ['"""\n', *entries, '"""\n']
        if node.op == "placeholder":
            self.write_placeholder(node, annotation)
        elif node.op == "output":
            if node.type is not None:
                self.return_annotation = f" -> {self.type_repr(node.type)}"
            descs = node.meta.get("desc") if self.expanded_def else None
            self.body.append(
                _call_with_known_keywords(
                    self.codegen.generate_output, node.args[0], descs=descs, repr_fn=self.repr_arg
                )
            )
        elif node.op == "call_function":
            self.write_call_function(node, annotation)
        elif node.op == "call_method":
            method = _format_target(self.repr_arg(node.args[0]), str(node.target))
            self.body.append(f"{node!r}{annotation} = {method}({self.format_args(node.args[1:], node.kwargs)})")
        elif node.op == "call_module":
            module = _format_target(self.root_module, str(node.target))
            self.body.append(f"{node!r}{annotation} = {module}({self.format_args(node.args, node.kwargs)})")
        elif node.op == "get_attr":
            self.body.append(f"{node!r}{annotation} = {_format_target(self.root_module, str(node.target))}")
        else:
            raise NotImplementedError(f"node: {node.op} {node.target}")

    def write_placeholder(self, node: Node, annotation: str) -> None:
        target = str(node.target)
        default = f" = {self.repr_arg(node.args[0])}" if node.args else ""
        desc = node.meta.get("desc") if self.expanded_def else None
        self.free_vars.append(f"{target}{annotation}{default}{f'  # {desc}' if desc is not None else ''}")
        parameter = target.replace("*", "")
        if parameter != repr(node):
            self.body.append(f"{node!r} = {parameter}\n")

    def write_call_function(self, node: Node, annotation: str) -> None:
        target: Any = node.target
        if getattr(target, "__module__", "") == "_operator":
            operands = [self.repr_arg(a) for a in node.args]
            if target.__name__ in magic_methods:
                self.body.append(f"{node!r}{annotation} = {magic_methods[target.__name__].format(*operands)}")
                return
            if target.__name__ in inplace_methods:
                statement = inplace_methods[target.__name__].format(*operands)
                self.body.append(f"{statement};  {node!r}{annotation} = {operands[0]}")
                return
        name = self.add_global(_get_qualified_name(target), target)
        if name == "getattr" and len(node.args) == 2 and isinstance(node.args[1], str) and node.args[1].isidentifier():
            self.body.append(f"{node!r}{annotation} = {_format_target(self.repr_arg(node.args[0]), node.args[1])}")
            return
        self.body.append(f"{node!r}{annotation} = {name}({self.format_args(node.args, node.kwargs)})")
        if node.meta.get("is_wrapped", False):
            self.wrapped_fns.setdefault(name)

    def write_end_of_line(self, node: Node, unused: list[Node]) -> None:
        """End the line of a node. Free the values that no later node uses."""
        if node.op == "placeholder":
            return
        if node.op == "output":
            unused = []
        elif not node.users:  # the node is here for its side effect
            unused = [*unused, node]
        freed = self.color("dim", " = ".join([*map(repr, unused), "None"])) if unused else ""
        self.body.append(f";  {freed}\n" if unused else "\n")

    # What print_readable() adds

    def tensor_annotation(self, node: Node) -> str:
        """Return dtype and shape of a node's result as an annotation, if a pass has noted them."""
        value = node.meta.get("val", node.meta.get("tensor_meta", node.meta.get("example_value")))
        if isinstance(value, Tensor):
            text = self.color("red", dtype_abbrs[value.dtype]) + self.color("blue", _sizes(value.shape))
            if self.include_stride:
                text += self.color("dim_blue", _sizes(value.stride()))
            if self.include_device:
                text += self.color("dim_green", str(value.device))
            return f': "{text}"' if type(value) is Tensor else f': "{type(value).__name__}({text})"'
        if value is not None and hasattr(value, "dtype") and hasattr(value, "shape"):  # a TensorMetadata
            return f': "{dtype_abbrs[value.dtype]}{_sizes(value.shape)}"'
        return ""

    def write_origin(self, node: Node) -> None:
        """Write a comment with the line of the traced program, where it differs from that of the previous node."""
        if node.op in ("placeholder", "output"):
            return
        noted = ", ".join(f"{key}: {node.meta[key]}" for key in self.additional_meta if key in node.meta)
        custom = {k: v if len(str(v)) <= 40 else f"{str(v)[:40]}..." for k, v in node.meta.get("custom", {}).items()}
        frame = _parse_stack_trace(node.stack_trace)
        place = frame.get_summary_str() if frame else "No stacktrace found for following nodes"
        comment = f"{f'# {noted} ' if noted else ''}#{f' Annotation: {custom}' if custom else ''} {place}"
        summary = f"\n{self.color('dim', comment)}\n"
        if summary != self.last_summary:
            self.last_summary = summary
            self.body.append(summary)


def _call_with_known_keywords(method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a method with those keywords that it has: a user's code generator may lack the newer ones."""
    known = inspect.signature(method).parameters
    return method(*args, **{k: v for k, v in kwargs.items() if k in known})


def _last_uses(nodes: Iterable[Node]) -> dict[Node, list[Node]]:
    """Return, for each node, the nodes whose results it is the last to use. ``nodes`` come in reverse order."""
    seen: set[Node] = set()
    last: dict[Node, list[Node]] = {}
    for user in nodes:
        for used in user._input_nodes:
            if used not in seen:
                seen.add(used)
                last.setdefault(user, []).append(used)
    return last


class CodeGen:
    """How a graph becomes a function. A subclass overrides the parts in which its functions differ.

    Example:
        >>> class TakesList(torch.fx.CodeGen):
        ...     def gen_fn_def(self, free_vars, maybe_return_annotation, *, expanded_def=False):
        ...         return f"def forward(self, args):\\n    {', '.join(free_vars)}, = args"
        >>> module = torch.fx.symbolic_trace(lambda a, b: a + b)
        >>> module.graph.set_codegen(TakesList())
        >>> _ = module.recompile()
        >>> module([1, 2])
        3

    Mirrors torch/fx/graph.py, ``CodeGen``.
    """

    def __init__(self) -> None:
        self._body_transformer: TransformCodeFunc | None = None
        self._func_name: str = "forward"

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        """Return the beginning of the function: ``def forward(self, a, b):``.

        Args:
            free_vars: the parameters, with annotations and defaults.
            maybe_return_annotation: `` -> `` and the annotation of the result, or an empty string.
            expanded_def: whether each parameter has a line of its own.

        Mirrors torch/fx/graph.py, ``CodeGen.gen_fn_def``.
        """
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        if not expanded_def:
            return f"def {self._func_name}({', '.join(free_vars)}){maybe_return_annotation}:"
        lines = []
        for parameter in free_vars:
            text, comment, desc = parameter.partition("#")
            lines.append(f"    {text.rstrip()},{f'  # {desc.lstrip()}' if comment else ''}\n")
        return f"def {self._func_name}(\n{''.join(lines)}){maybe_return_annotation}:"

    def generate_output(
        self,
        output_args: Any,
        *,
        descs: Sequence[str] | None = None,
        repr_fn: Callable[[Any], str] | None = None,
    ) -> str:
        """Return the ``return`` statement.

        Args:
            output_args: the result, a structure of nodes.
            descs: a comment for each part of the result.
            repr_fn: gives the expression of a part, by default ``repr``.

        Mirrors torch/fx/graph.py, ``CodeGen.generate_output``.
        """
        return f"return {self._format_result(output_args, descs, repr_fn or repr)}"

    @staticmethod
    def _format_result(output_args: Any, descs: Sequence[str] | None, repr_fn: Callable[[Any], str]) -> str:
        if descs is None or not isinstance(output_args, (list, tuple)):
            return repr_fn(output_args)
        start, end = "()" if isinstance(output_args, tuple) else "[]"
        lines = [f"    {repr_fn(item)},  # {desc}\n" for item, desc in zip(output_args, descs, strict=True)]
        return f"{start}\n{''.join(lines)}{end}"

    def process_inputs(self, *args: Any) -> Any:
        """Return the values of the graph's placeholders for the arguments of the generated function.

        ``graph.process_outputs(run(graph.process_inputs(*args)))`` equals ``function(*args)``.

        Mirrors torch/fx/graph.py, ``CodeGen.process_inputs``.
        """
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """Return the result of the generated function for the value of the graph's output node.

        Mirrors torch/fx/graph.py, ``CodeGen.process_outputs``.
        """
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Return names and values of global variables that the code of a subclass uses.

        Mirrors torch/fx/graph.py, ``CodeGen.additional_globals``.
        """
        return []

    def _gen_python_code(
        self,
        nodes: Any,
        root_module: str,
        namespace: _Namespace,
        *,
        verbose: bool = False,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        expanded_def: bool = False,
        record_func: bool = False,
        additional_meta: list[str] | None = None,
    ) -> PythonCode:
        writer = _Writer(
            self,
            root_module,
            namespace,
            verbose=verbose,
            include_stride=include_stride,
            include_device=include_device,
            colored=colored,
            expanded_def=expanded_def,
            additional_meta=additional_meta,
        )
        last_uses = _last_uses(reversed(nodes))
        for i, node in enumerate(nodes):
            if verbose:
                writer.write_origin(node)
            writer.body.append(f"# COUNTER: {i}\n")  # these lines survive the transformer, and are removed below
            marked = record_func and node.op.startswith("call_")
            if marked:
                mark = f"_rf_{node.name}"
                writer.body.append(f"{mark} = torch.profiler.record_function('## {i} ##'); {mark}.__enter__()\n")
            writer.write_node(node)
            writer.write_end_of_line(node, last_uses.get(node, []))
            if marked:
                writer.body.append(f"{mark}.__exit__(None, None, None)\n")
        body = writer.body or ["pass\n"]
        wrap_stmts = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in writer.wrapped_fns)
        if self._body_transformer:
            body = self._body_transformer(body)
        for name, value in self.additional_globals():
            writer.add_global(name, value)
        prologue = _call_with_known_keywords(
            self.gen_fn_def, writer.free_vars, writer.return_annotation, expanded_def=expanded_def
        )
        lines, lineno_map = _without_counters("".join(body), prologue.count("\n") + 1)
        code = "\n".join("    " + line for line in "\n".join(lines).lstrip("\n").split("\n"))
        return PythonCode(
            f"\n{wrap_stmts}\n\n{prologue}\n{code}",
            writer.globals,
            _lineno_map=lineno_map,
            _prologue_start=wrap_stmts.count("\n") + 4,
        )


def _without_counters(body: str, prologue_len: int) -> tuple[list[str], dict[int, int | None]]:
    """Remove the counters of nodes from the body. Return its lines, and the position of the node of each line."""
    lines: list[str] = []
    lineno_map: dict[int, int | None] = {}
    current = None
    for line in body.split("\n"):
        if (counter := _counter_regexp.search(line)) is not None:
            current = int(counter.group(1))
        else:
            lineno_map[len(lines) + prologue_len] = current
            lines.append(line)
    return lines, lineno_map
