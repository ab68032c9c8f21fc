"""Modules whose ``forward`` is generated from a graph.

Mirrors: torch/fx/graph_module.py
Leaves out: torch.package, boxed calls, symbolic shapes. The file is more
    than 500 lines long because the class has many methods; each is short.

Note [Generated code has a file]
    Problem: a debugger, a traceback and ``inspect`` show source lines by file name, and generated code is in no file.
    Trick: each text gets a file name of its own, ``<<eval_with_key>.0 from model.py:12 in forward>``, which names the
    traced function, and an entry in the cache of ``linecache``, from which these tools read lines. The outer brackets,
    which PyTorch's names lack, tell pdb and debugpy that the name is no path.
"""

from __future__ import annotations

import copy
import importlib
import itertools
import linecache
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import reftorch
from reftorch import _places, _warnings, nn
from reftorch._tensor import Tensor
from reftorch.fx.graph import Graph, PythonCode, _custom_builtins, _PyTreeCodeGen
from reftorch.nn import Module, Parameter
from reftorch.nn.modules.module import _addindent

if TYPE_CHECKING:
    import os

    from reftorch.fx.node import Node

__all__ = ["GraphModule", "reduce_graph_module"]

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"


_next_id = itertools.count()


def _keep_source(src: str, co_fields: dict[str, Any] | None) -> str:
    """Let ``linecache`` know a text, and return the file name of the text: Note [Generated code has a file]."""
    key = f"<eval_with_key>.{next(_next_id)}"
    if co_fields:
        key += f" from {co_fields['co_filename']}:{co_fields['co_firstlineno']} in {co_fields['co_name']}"
    key = f"<{key}>"
    linecache.cache[key] = (len(src), None, src.splitlines(keepends=True), key)  # None: no file that could change
    return key


def _forward_from_src(src: str, globals: dict[str, Any], co_fields: dict[str, Any] | None = None) -> Callable[..., Any]:
    """Execute the text of a ``forward`` and return the function."""
    globals = globals.copy()
    key = _keep_source(src, co_fields)
    exec(compile(src, key, "exec", dont_inherit=True), globals)
    return globals.pop("forward")


def _format_import_block(globals: dict[str, Any]) -> str:
    """Return statements that define the global variables of generated code, sorted."""
    statements = set()
    for name, obj in globals.items():
        if name in _custom_builtins:
            statements.add(_custom_builtins[name].import_str)
        else:
            statements.add(f"from {obj.__module__} import {obj.__qualname__} as {name}")
    return "\n".join(sorted(statements))


def _in_torch_block(import_block: str) -> str:
    """Return import statements with PyTorch's names, which pickles contain."""
    block = re.sub(r"^import reftorch as torch$", "import torch", import_block, flags=re.MULTILINE)
    return re.sub(r"^(import|from) reftorch\b", r"\1 torch", block, flags=re.MULTILINE)


def _run_import_block(import_block: str) -> dict[str, Any]:
    """Return the global variables that import statements of a file define. PyTorch's names mean this library."""
    found: dict[str, Any] = {}
    for statement in import_block.splitlines():
        words = statement.split()
        if words[:1] == ["from"] and words[2:3] == ["import"] and words[1].partition(".")[0] == "torch":
            found[words[-1]] = _places.find(words[1], words[3])
        elif words[:1] == ["import"] and words[1].partition(".")[0] == "torch":
            module = importlib.import_module("reftorch" + words[1].removeprefix("torch"))
            found[words[-1]] = module if len(words) == 4 else reftorch
        else:
            exec(statement, found)
    return found


def reduce_graph_module(body: dict[str, Any], import_block: str) -> Module:
    """Make a :class:`GraphModule` from its state and its code: the function that pickles call.

    The graph is made anew by tracing the code.

    Args:
        body: the state, with the code in ``_code``.
        import_block: statements that define the code's global variables.

    Mirrors torch/fx/graph_module.py, ``reduce_graph_module``.
    """
    # PyTorch's older pickles have the code under another name.
    forward = _forward_from_src(body.get("_code") or body["code"], _run_import_block(import_block))
    return _deserialize_graph_module(forward, body)


class _CodeOnlyModule(Module):
    """A module with the state of a GraphModule and no graph; its ``forward`` is set on the class."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__setstate__(body)


def _deserialize_graph_module(forward: Callable[..., Any], body: dict[str, Any]) -> Module:
    # The tracer looks for forward in the class, so each module gets a class of its own.
    code_only = type("_CodeOnlyModule", (_CodeOnlyModule,), {"forward": forward})(body)
    tracer_cls: Any = body.get("_tracer_cls")
    if tracer_cls is None:
        tracer_cls = _default_tracer()

    class KeepModules(tracer_cls):
        """Does not enter the submodules, because the graph that was pickled called them."""

        def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
            return True

    graph = KeepModules().trace(code_only, **body.get("_tracer_extras", {}))
    graph._tracer_cls = tracer_cls  # not KeepModules, which cannot be pickled
    for node in graph.nodes:
        node._place = None  # a line of the generated code, where the graph's own has been lost
    module = GraphModule(code_only, graph, class_name=body.get("_graphmodule_cls_name", "GraphModule"))
    for name, value in code_only.__dict__.items():
        if not hasattr(module, name):
            setattr(module, name, value)
    return module


def _default_tracer() -> type:
    """Return Tracer, whose file imports this one."""
    return sys.modules["reftorch.fx._symbolic_trace"].Tracer


# ---- attributes by their paths ----


def _copy_attr(from_module: Module, to_module: Module, target: str) -> None:
    """Let ``to_module`` have the attribute at a path too. Modules on the way that it lacks become empty modules."""
    *prefix, field = target.split(".")
    for item in prefix:
        source, destination = getattr(from_module, item), getattr(to_module, item, None)
        if source is destination:
            return  # the whole module on the way was copied before
        if destination is None:
            destination = Module()
            setattr(to_module, item, destination)
        from_module, to_module = source, destination
    _set_attr(to_module, field, getattr(from_module, field))


def _assign_attr(from_obj: Any, to_module: Module, target: str) -> None:
    """Assign an object to the attribute at a path. Modules on the way that do not exist become empty modules."""
    *prefix, field = target.split(".")
    for item in prefix:
        if getattr(to_module, item, None) is None:
            setattr(to_module, item, Module())
        to_module = getattr(to_module, item)
    _set_attr(to_module, field, from_obj)


def _set_attr(module: Module, name: str, value: Any) -> None:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        module.register_buffer(name, value)
    else:
        setattr(module, name, value)


def _get_attr(model: Module, attr_name: str) -> Any:
    """Return the attribute at a path."""
    found: Any = model
    for item in attr_name.split("."):
        found = getattr(found, item)
    return found


# ---- errors ----


def _note_origin(module: GraphModule, error: Exception) -> traceback.FrameSummary:
    """Add to an error the line of the traced program that the failing line of generated code was made from.

    Returns:
        The innermost frame of the traceback.
    """
    frames = traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__))
    generated = type(module).forward.__code__.co_filename
    frame = next((f for f in reversed(frames) if f.filename == generated), None)
    node = module._node_of_line(frame.lineno) if frame is not None and frame.lineno else None
    if node is not None and node._place is not None:
        file, line, function = node._place
        code = linecache.getline(file, line).strip()
        note = (
            f'While executing {node.format_node()}\nTraced from File "{file}", line {line}, in {function}\n    {code}'
        )
        if hasattr(error, "add_note") and note not in getattr(error, "__notes__", ()):
            error.add_note(note)
    return frames[-1]


class _WrappedCall:
    """Calls a GraphModule, and explains the errors of generated code.

    Mirrors torch/fx/graph_module.py, ``_WrappedCall``.
    """

    def __init__(self, cls: Any, cls_call: Callable[..., Any] | None) -> None:
        self.cls = cls
        self.cls_call = cls_call

    @staticmethod
    def _generate_error_message(frame_summary: traceback.FrameSummary) -> str:
        """Return the traceback of the current error, and the lines around the failing line of generated code."""
        line_number = frame_summary.lineno or 0
        lines = linecache.getlines(frame_summary.filename)
        return "\n".join(
            [
                traceback.format_exc(),
                f"Call using an FX-traced Module, line {line_number} of the traced Module's "
                "generated forward function:",
                "".join(lines[line_number - 2 : line_number]),
                "~" * len(frame_summary.line or "") + "~~~ <--- HERE",
                "\n".join(lines[line_number : line_number + 2]),
            ]
        )

    def __call__(self, obj: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if self.cls_call is not None:
                return self.cls_call(obj, *args, **kwargs)
            return super(self.cls, obj).__call__(*args, **kwargs)  # type: ignore[misc]
        except Exception as e:
            innermost = _note_origin(obj, e)
            if "eval_with_key" in innermost.filename:
                print(_WrappedCall._generate_error_message(innermost), file=sys.stderr)
                raise e.with_traceback(None)  # noqa: B904
            raise


class GraphModule(Module):
    """A module whose ``forward`` is generated from a :class:`Graph`.

    The module has the submodules, parameters and buffers that the graph uses. After a change of the graph,
    :meth:`recompile` generates ``forward`` anew.

    Args:
        root: the module that has what the graph uses, or a dict with it by path.
        graph: the graph.
        class_name: the name that the class of the new module gets.

    Raises:
        RuntimeError: ``root`` is a dict that lacks a target of the graph, or is neither a module nor a dict.

    Example:
        >>> module = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()))
        >>> print(module.code.strip())
        def forward(self, input):
            input_1 = input
            _0 = getattr(self, "0")(input_1);  input_1 = None
            _1 = getattr(self, "1")(_0);  _0 = None
            return _1
        >>> for node in module.graph.find_nodes(op="call_module", target="1"):
        ...     with module.graph.inserting_after(node):
        ...         tanh = module.graph.call_function(torch.tanh, node.args)
        ...     _ = node.replace_all_uses_with(tanh)
        ...     module.graph.erase_node(node)
        >>> _ = module.recompile()
        >>> module(torch.zeros(1, 2)).grad_fn.name()
        'TanhBackward0'

    Mirrors torch/fx/graph_module.py, ``GraphModule``.
    """

    meta: dict[str, Any]
    _graph: Graph
    _code: str
    _lineno_map: dict[int, int | None] | None
    _prologue_start: int

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        # Each module has its own forward, and so a class of its own, below the class that the caller named.
        named = next(c for c in cls.__mro__ if c.__qualname__.split(".")[-1] != "GraphModuleImpl")

        class GraphModuleImpl(named):  # type: ignore[misc, valid-type]
            pass

        return super().__new__(GraphModuleImpl)

    def __init__(self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        targets = [str(node.target) for node in graph.nodes if node.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            self.training = root.training
            if isinstance(root, _CodeOnlyModule):  # an unpickled module keeps what its graph does not use
                members = (root.named_children(), root.named_buffers(), root.named_parameters())
                targets = [name for name, _ in itertools.chain(*members)] + targets
            for target in targets:
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module") and node.target not in root:
                    raise RuntimeError(
                        f"Node {node} referenced target {node.target} but that target was not provided in ``root``!"
                    )
            # A module comes before what is in the module.
            for target in sorted(targets, key=lambda t: t.count(".")):
                _assign_attr(root[target], self, target)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self.graph = graph
        # A tracer that is defined in a function cannot be pickled.
        tracer_cls = graph._tracer_cls
        self._tracer_cls = tracer_cls if tracer_cls and "<locals>" not in tracer_cls.__qualname__ else None
        self._tracer_extras = graph._tracer_extras or {}
        self.meta = {}
        self._replace_hooks: list[Callable[..., Any]] = []
        self._create_node_hooks: list[Callable[[Node], Any]] = []
        self._erase_node_hooks: list[Callable[[Node], Any]] = []
        self._deepcopy_hooks: list[Callable[[GraphModule], Any]] = []

    @property
    def graph(self) -> Graph:
        """The graph. An assignment generates ``forward`` anew."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    # Code

    @property
    def code(self) -> str:
        """The text of ``forward``."""
        if not hasattr(self, "_code"):
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def recompile(self) -> PythonCode:
        """Generate ``forward`` from the graph. Call this method after a change of the graph.

        Mirrors torch/fx/graph_module.py, ``GraphModule.recompile``.
        """
        if isinstance(self._graph._codegen, _PyTreeCodeGen):
            self._in_spec = self._graph._codegen.pytree_info.in_spec
            self._out_spec = self._graph._codegen.pytree_info.out_spec
        python_code = self._graph.python_code(root_module="self")
        self._code = python_code.src
        self._lineno_map = python_code._lineno_map
        self._prologue_start = python_code._prologue_start
        cls: Any = type(self)
        cls.forward = _forward_from_src(self._code, python_code.globals, self._graph._co_fields)
        if "_wrapped_call" not in vars(cls):
            # A subclass that defines __call__ calls it. Otherwise Module.__call__ is found anew at each call, because
            # a tracer may have replaced it.
            cls._wrapped_call = _WrappedCall(cls, vars(cls).get("__call__"))

        def call_wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
            return self._wrapped_call(self, *args, **kwargs)

        cls.__call__ = call_wrapped
        for child in self.children():
            if isinstance(child, GraphModule):
                child.recompile()
        return python_code

    def _node_of_line(self, line: int) -> Node | None:
        """Return the node that a line of the generated code was written for."""
        position = (self._lineno_map or {}).get(line - self._prologue_start)
        return None if position is None else next(itertools.islice(self._graph.nodes, position, None), None)

    def to_folder(self, folder: str | os.PathLike[str], module_name: str = "FxModule") -> None:
        """Write the module to a folder, as a package of Python whose class can be imported, read and edited.

        Args:
            folder: the folder; its parent must exist.
            module_name: the name of the class.

        Example:
            >>> import sys, tempfile
            >>> folder = tempfile.mkdtemp()
            >>> torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(2, 3))).to_folder(folder + "/traced", "Net")
            >>> sys.path.insert(0, folder)
            >>> from traced import Net
            >>> Net()
            Net(
              (0): Linear(in_features=2, out_features=3, bias=True)
            )

        Mirrors torch/fx/graph_module.py, ``GraphModule.to_folder``.
        """
        folder = Path(folder)
        folder.mkdir(exist_ok=True)
        reftorch.save(self.state_dict(), folder / "state_dict.pt")
        body: list[str] = []
        pickled: list[str] = []
        for name, child in self.named_children():
            if type(child) in _MODULES_WITH_CODE_AS_REPR:
                body.append(f"setattr(self, '{name}', {child!r})")
            else:
                reftorch.save(child, folder / f"{name}.pt")
                pickled.append(name)
                text = repr(child).replace("\r", " ").replace("\n", " ")
                path = folder / f"{name}.pt"
                body.append(f"setattr(self, '{name}', torch.load(r'{path}', weights_only=False)) # {text}")
        for name, buffer in self._buffers.items():
            if buffer is not None:
                empty = f"torch.empty({list(buffer.shape)}, dtype={buffer.dtype})"
                body.append(f"self.register_buffer('{name}', {empty})")
        for name, parameter in self._parameters.items():
            if parameter is not None:
                empty = f"torch.empty({list(parameter.shape)}, dtype={parameter.dtype})"
                body.append(f"setattr(self, '{name}', torch.nn.Parameter({empty}))")
        body.append(f"self.load_state_dict(torch.load(r'{folder}/state_dict.pt'))")
        imports = _format_import_block(self._graph.python_code("self").globals)
        lines = self.code.split("\n")
        wraps, forward = "\n".join(lines[: self._prologue_start - 1]), "\n".join(lines[self._prologue_start - 1 :])
        statements = "\n".join(f"        {statement}" for statement in body)
        (folder / "module.py").write_text(
            f"\n{imports}\n\nfrom reftorch.nn import *\n{wraps}\n"
            f"class {module_name}(torch.nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__()\n"
            f"{statements}\n\n    {_addindent(forward, 4)}\n"
        )
        (folder / "__init__.py").write_text("from .module import *")
        if pickled:
            _warnings.warn(
                "Was not able to save the following children modules as reprs -"
                f"saved as pickled files instead: {pickled}"
            )

    # Submodules

    def add_submodule(self, target: str, m: Module) -> bool:
        """Add a submodule at a path; modules on the way that do not exist become empty modules.

        Args:
            target: the path.
            m: the submodule.

        Returns:
            False if something on the way is not a module, else True.

        Mirrors torch/fx/graph_module.py, ``GraphModule.add_submodule``.
        """
        *prefix, field = target.split(".")
        module: Module = self
        for item in prefix:
            child = getattr(module, item, None)
            if child is None:
                child = Module()
                setattr(module, item, child)
            if not isinstance(child, Module):
                return False
            module = child
        module.add_module(field, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Delete the submodule at a path.

        Returns:
            Whether there was one.

        Mirrors torch/fx/graph_module.py, ``GraphModule.delete_submodule``.
        """
        *prefix, field = target.split(".")
        module: Any = self
        for item in prefix:
            module = getattr(module, item, None)
            if not isinstance(module, Module):
                return False
        if not isinstance(getattr(module, field, None), Module):
            return False
        delattr(module, field)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Delete the submodules that no node uses, directly or through an attribute of theirs.

        Mirrors torch/fx/graph_module.py, ``GraphModule.delete_all_unused_submodules``.
        """
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            used.update(itertools.accumulate(str(node.target).split("."), "{}.{}".format))
            if node.op == "call_module":
                try:
                    called = self.get_submodule(str(node.target))
                except AttributeError:
                    continue
                used.update(f"{node.target}.{name}" for name, _ in called.named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # Copies

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_graph", None)
        return state

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the state and the code; the graph is made anew from the code."""
        imports = _in_torch_block(_format_import_block(self.recompile().globals))
        state = {**self.__getstate__(), "_graphmodule_cls_name": type(self).__name__}
        return reduce_graph_module, (state, imports)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return self.__reduce__()

    def _deepcopy_init(self) -> Callable[..., None]:
        return GraphModule.__init__

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        graph = copy.deepcopy(self._graph, memo)
        state = copy.deepcopy(self.__getstate__(), memo)
        self._deepcopy_init()(copied, _CodeOnlyModule(state), graph, type(self).__name__)
        kept = (
            "_state_dict_hooks",
            "_load_state_dict_pre_hooks",
            "_load_state_dict_post_hooks",
            "_replace_hooks",
            "_create_node_hooks",
            "_erase_node_hooks",
            "_deepcopy_hooks",
            "meta",
        )
        for name in kept:
            if name in state:
                setattr(copied, name, state[name])
        for name, value in copied.meta.get(_USER_PRESERVED_ATTRIBUTES_KEY, {}).items():
            setattr(copied, name, value)
        for hook in self._deepcopy_hooks:
            hook(copied)
        return copied

    def __copy__(self) -> GraphModule:
        copied = GraphModule(self, self.graph)
        copied.meta = self.meta
        return copied

    # Text

    def print_readable(
        self,
        print_output: bool = True,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        *,
        fast_sympy_print: bool = False,
        expanded_def: bool = False,
        additional_meta: list[str] | None = None,
    ) -> str:
        """Print the code of this module and of its submodules that are GraphModules, as classes.

        Args:
            print_output: whether to print; the text is returned in any case.
            include_stride, include_device: whether to show strides and devices of results that a pass has noted.
            colored: whether to color the text for a terminal.
            fast_sympy_print: has no effect: how to print symbolic sizes, which do not exist here.
            expanded_def: whether each parameter has a line of its own.
            additional_meta: further notes of the nodes to show.

        Example:
            >>> _ = torch.fx.symbolic_trace(lambda x: x + 1).print_readable()
            class <lambda>(torch.nn.Module):
                def forward(self, x):
                    # No stacktrace found for following nodes
                    add = x + 1;  x = None
                    return add

        Mirrors torch/fx/graph_module.py, ``GraphModule.print_readable``.
        """
        options: dict[str, Any] = {
            "include_stride": include_stride,
            "include_device": include_device,
            "colored": colored,
            "additional_meta": additional_meta,
        }
        text = self._readable(self._get_name(), expanded_def=expanded_def, **options)
        if print_output:
            print(text)
        return text

    def _readable(self, name: str, **options: Any) -> str:
        code = self._graph.python_code(root_module="self", verbose=True, **options).src.lstrip("\n")
        text = _addindent(f"class {name}(torch.nn.Module):\n{code}", 4)
        options.pop("expanded_def", None)  # PyTorch expands the outermost function only
        children = [
            child._readable(child_name, **options)
            for child_name, child in self.named_children()
            if isinstance(child, GraphModule)
        ]
        return text + _addindent("\n".join(["", *children]), 4)

    def __str__(self) -> str:
        reminder = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__str__(), self._code, reminder])

    # Hooks that follow changes of the graph

    def _register_replace_node_hook(self, f: Callable[..., Any]) -> None:
        """Call ``f(old=, new=, user=)`` before a user of a node uses another one."""
        self._replace_hooks.append(f)

    def _unregister_replace_node_hook(self, f: Callable[..., Any]) -> None:
        self._replace_hooks.remove(f)

    @contextmanager
    def _set_replace_hook(self, f: Callable[..., Any]) -> Iterator[None]:
        self._register_replace_node_hook(f)
        try:
            yield
        finally:
            self._unregister_replace_node_hook(f)

    def _register_create_node_hook(self, f: Callable[[Node], Any]) -> None:
        """Call ``f(node)`` for each new node."""
        self._create_node_hooks.append(f)

    def _unregister_create_node_hook(self, f: Callable[[Node], Any]) -> None:
        self._create_node_hooks.remove(f)

    def _register_erase_node_hook(self, f: Callable[[Node], Any]) -> None:
        """Call ``f(node)`` before a node is erased."""
        self._erase_node_hooks.append(f)

    def _unregister_erase_node_hook(self, f: Callable[[Node], Any]) -> None:
        self._erase_node_hooks.remove(f)

    def _register_deepcopy_hook(self, f: Callable[[GraphModule], Any]) -> None:
        """Call ``f(copy)`` after a deep copy."""
        self._deepcopy_hooks.append(f)

    def _unregister_deepcopy_hook(self, f: Callable[[GraphModule], Any]) -> None:
        self._deepcopy_hooks.remove(f)


# The text of these modules is an expression that makes an equal module.
_MODULES_WITH_CODE_AS_REPR = tuple(
    getattr(nn, name)
    for name in ("Linear", "Conv1d", "Conv2d", "Conv3d", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d")
    if hasattr(nn, name)
)
