"""Symbolic tracing: running a program on proxies, which record the program as a graph.

Mirrors: torch/fx/_symbolic_trace.py
Leaves out: objects of TorchScript, lazily compiled modules, partial graphs of data-dependent errors. The file is more
    than 500 lines long, because the tracer's methods share its state.
"""

from __future__ import annotations

import builtins
import collections
import copy
import functools
import inspect
import math
from collections.abc import Callable
from itertools import chain
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

import reftorch
from reftorch import _warnings
from reftorch._places import in_torch, is_ours
from reftorch._tensor import Tensor
from reftorch.fx.graph import Graph, _PyTreeCodeGen, _PyTreeInfo
from reftorch.fx.graph_module import GraphModule
from reftorch.fx.node import base_types, map_aggregate
from reftorch.fx.proxy import ParameterProxy, Proxy, Scope, ScopeContextManager, TracerBase
from reftorch.nn import Module, Parameter, Sequential
from reftorch.utils import _pytree as pytree

__all__ = ["PH", "ProxyableClassMeta", "Tracer", "is_fx_symbolic_tracing", "is_fx_tracing", "symbolic_trace", "wrap"]

_F = TypeVar("_F", bound=Any)

HAS_VARSTUFF = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS

_orig_module_call: Callable[..., Any] = Module.__call__
_orig_module_getattr: Callable[..., Any] = Module.__getattr__

_proxyable_classes: dict[type, None] = {}
_CREATED_BY_BASE_CLASS = {Proxy, tuple, list, dict, int, float, bool, str, type(None)}
_constant_attribute_types = (Tensor, pytree.TreeSpec)
_is_fx_tracing_flag = False


def is_fx_tracing() -> bool:
    """Return whether a program is being traced.

    Mirrors torch/fx/_symbolic_trace.py, ``is_fx_tracing``.
    """
    return _is_fx_tracing_flag


is_fx_symbolic_tracing = is_fx_tracing  # PyTorch's compilers set the flag too


class ProxyableClassMeta(type):
    """The metaclass of classes whose construction from proxies is recorded.

    Example:
        >>> class Pair(metaclass=torch.fx.ProxyableClassMeta):
        ...     def __init__(self, left, right):
        ...         self.left, self.right = left, right
        >>> [node.name for node in torch.fx.symbolic_trace(lambda x: Pair(x, x + 1)).graph.nodes]
        ['x', 'add', 'pair', 'output']

    Mirrors torch/fx/_symbolic_trace.py, ``ProxyableClassMeta``.
    """

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs) if is_fx_tracing() else None
        if proxy is not None:
            return proxy.tracer.create_proxy("call_function", cls, args, kwargs)
        return super().__call__(*args, **kwargs)


def _patch_function(fn: FunctionType, nargs: int) -> FunctionType:
    """Return a function that takes ``*args`` and ``**kwargs`` as ordinary parameters, so that each can be a proxy."""
    code: CodeType = fn.__code__
    code = code.replace(
        co_argcount=nargs, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=code.co_flags & ~HAS_VARSTUFF
    )
    return FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)


class PHBase:
    """A value among ``concrete_args`` that stays a parameter of the traced function.

    Mirrors torch/fx/_symbolic_trace.py, ``PHBase``.
    """

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


class PHWithMeta(PHBase):
    """A :class:`PHBase` whose attributes become attributes of the placeholder node.

    Mirrors torch/fx/_symbolic_trace.py, ``PHWithMeta``.
    """

    def __init__(self, ph_key: str | None = None) -> None:
        super().__init__()
        self.ph_key = ph_key


def _transfer_attrs(fr: Any, to: Any) -> None:
    for name in dir(fr):
        value = getattr(fr, name)
        if not callable(value) and not name.startswith("__") and not hasattr(to, name):
            setattr(to, name, value)


class Tracer(TracerBase):
    """Traces modules and functions. ``symbolic_trace(m)`` is ``GraphModule(tracer.root, tracer.trace(m))``.

    Subclasses override methods to choose what is recorded: which modules are not entered (:meth:`is_leaf_module`),
    what a read of an attribute gives (:meth:`getattr`), what a call of a module does (:meth:`call_module`).

    Args:
        autowrap_modules: modules of Python whose functions are recorded as calls if an argument is a proxy.
        autowrap_functions: further such functions.
        param_shapes_constant: whether shapes of parameters are numbers in the traced program and not proxies.

    Example:
        >>> class Everything(torch.fx.Tracer):
        ...     def is_leaf_module(self, m, module_qualified_name):
        ...         return False
        >>> [node.name for node in Everything().trace(torch.nn.Linear(2, 3)).nodes]
        ['input_1', 'weight', 'bias', 'linear', 'output']

    Mirrors torch/fx/_symbolic_trace.py, ``Tracer``.
    """

    _qualname_counter: dict[str, int] = collections.defaultdict(int)

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        super().__init__()
        members = chain.from_iterable(vars(module).items() for module in autowrap_modules)
        self._autowrap_function_ids: set[int] = {
            id(value) for name, value in members if not name.startswith("_") and callable(value)
        }
        self._autowrap_function_ids.update(map(id, autowrap_functions))
        self._autowrap_search: list[ModuleType] = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Module, str] | None = None
        self._parameter_paths: dict[int, str] = {}
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.num_calls: dict[str, int] = {}
        self.node_name_to_scope = {}

    def get_fresh_qualname(self, prefix: str) -> str:
        """Return a name that begins with ``prefix`` and is no attribute of the traced module.

        Mirrors torch/fx/_symbolic_trace.py, ``Tracer.get_fresh_qualname``.
        """
        if not hasattr(self.root, f"{prefix}0"):
            self._qualname_counter[prefix] = 0
            return f"{prefix}0"
        i = self._qualname_counter[prefix]
        while hasattr(self.root, f"{prefix}{i}"):
            i += 1
        self._qualname_counter[prefix] = i + 1
        return f"{prefix}{i}"

    def create_arg(self, a: Any) -> Any:
        """Return what a node holds for a value among the arguments of a recorded call.

        A parameter, buffer or submodule becomes a ``get_attr`` node. Another tensor does too; it becomes an attribute
        of the traced module if it is not one yet.

        Args:
            a: the value.

        Raises:
            NameError: a parameter does not belong to the traced module.
            NotImplementedError: a node cannot hold a value of this type.

        Mirrors torch/fx/_symbolic_trace.py, ``Tracer.create_arg``.
        """
        if type(a) in _CREATED_BY_BASE_CLASS:  # most arguments; the questions below take longer
            return super().create_arg(a)
        path = None
        if isinstance(a, Parameter):
            path = self._path_of_parameter(a)
            if path is None:
                raise NameError("parameter is not a member of this module")
        elif isinstance(a, Tensor):
            path = next((name for name, buffer in self.root.named_buffers() if a is buffer), None)
        elif isinstance(a, Module):
            path = next((name for name, module in self.root.named_modules() if a is module), None)
        elif isinstance(a, tuple) and hasattr(a, "_fields") and not isinstance(a, pytree.TreeSpec):
            return self.create_node("call_function", type(a), tuple(self.create_arg(item) for item in a), {})
        if path is None and isinstance(a, _constant_attribute_types):
            path = self.tensor_attrs.get(a)
            if path is None:
                prefix = "_tensor_constant" if isinstance(a, Tensor) else "_tree_spec_constant"
                path = self.tensor_attrs[a] = self.get_fresh_qualname(prefix)
                setattr(self.root, path, a)
        elif path is None and type(a) in _proxyable_classes:
            # The tracer did not see how the object was made, so the object becomes a constant.
            path = self.get_fresh_qualname(f"_{type(a).__name__}_constant_")
            setattr(self.root, path, a)
        if path is not None:
            return self.create_node("get_attr", path, (), {})
        return super().create_arg(a)

    def _path_of_parameter(self, parameter: Parameter) -> str | None:
        path = self._parameter_paths.get(id(parameter))
        if path is not None:
            return path
        return next((name for name, p in self.root.named_parameters() if p is parameter), None)

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Return whether a call of a module becomes one node. Otherwise the tracer enters the module's ``forward``.

        By default the modules of ``torch.nn`` are leaves, except Sequential.

        Args:
            m: the module.
            module_qualified_name: its path in the traced module.

        Mirrors torch/fx/_symbolic_trace.py, ``Tracer.is_leaf_module``.
        """
        return in_torch(m.__module__, "")[0].startswith("torch.nn") and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """Return the path of a module in the traced module.

        Raises:
            NameError: the module is not in the traced module.

        Mirrors torch/fx/_symbolic_trace.py, ``Tracer.path_of_module``.
        """
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
        else:
            path = next((name for name, module in self.root.named_modules() if module is mod), None)
        if path is None:
            raise NameError("module is not installed as a submodule")
        return path

    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call of a module: as one node, or by calling ``forward``.

        Args:
            m: the module.
            forward: calls the module with its hooks.
            args, kwargs: the arguments.

        Returns:
            The result for the traced program, usually a proxy.

        Mirrors torch/fx/_symbolic_trace.py, ``Tracer.call_module``.
        """
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))):
            calls = self.num_calls.get(path, 0)
            self.num_calls[path] = calls + 1
            key = f"{path}@{calls}" if calls > 0 else path
            self.module_stack[key] = (path, type(m))
            if self.is_leaf_module(m, path):
                result = self.create_proxy("call_module", path, args, kwargs)
            else:
                result = forward(*args, **kwargs)
            popped, _ = self.module_stack.popitem()
            if popped != key:
                raise AssertionError(f"Unexpected key {popped}, expected {key}")
        return result

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """Return what the traced program gets where it reads an attribute of a module.

        Args:
            attr: the name of the attribute.
            attr_val: its value.
            parameter_proxy_cache: the proxies of parameters that were read before, by path.

        Returns:
            A proxy of a parameter, and also of a buffer if ``proxy_buffer_attributes`` is set; else the value.

        Mirrors torch/fx/_symbolic_trace.py, ``Tracer.getattr``.
        """
        path = None
        if isinstance(attr_val, Parameter):
            path = self._path_of_parameter(attr_val)
        elif self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            path = next((name for name, buffer in self.root.named_buffers() if buffer is attr_val), None)
        if path is None:
            return attr_val
        if path not in parameter_proxy_cache:
            kwargs: dict[str, Any] = {}
            if self.param_shapes_constant and isinstance(attr_val, Parameter):
                kwargs["proxy_factory_fn"] = lambda node: ParameterProxy(self, node, path, attr_val)
            parameter_proxy_cache[path] = self.create_proxy("get_attr", path, (), {}, **kwargs)
        return parameter_proxy_cache[path]

    def create_args_for_root(
        self,
        root_fn: Callable[..., Any],
        is_module: bool,
        concrete_args: dict[str, Any] | tuple[Any, ...] | None = None,
    ) -> tuple[Callable[..., Any], list[Any]]:
        """Make placeholders for the parameters of the function that is traced.

        Args:
            root_fn: the function, or the ``forward`` of the class of the traced module.
            is_module: whether the first parameter is the module.
            concrete_args: values of parameters, see :func:`symbolic_trace`.

        Returns:
            The function to call, and its arguments.

        Raises:
            RuntimeError: ``forward`` has no parameter ``self``; or the number of ``concrete_args`` is wrong.

        Mirrors torch/fx/_symbolic_trace.py, ``Tracer.create_args_for_root``.
        """
        fn = inspect.unwrap(root_fn)  # a decorator hides the parameters
        code = fn.__code__
        total_args = code.co_argcount + code.co_kwonlyargcount
        names = iter(code.co_varnames)
        args: list[Any] = []
        if is_module:
            if total_args == 0:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            next(names)
            args.append(self.root)
        has_varstuff = bool(code.co_flags & HAS_VARSTUFF)
        if isinstance(concrete_args, tuple) and concrete_args and has_varstuff and total_args == 1:
            for i, value in enumerate(concrete_args):
                args.append(self._keep_attributes(value, self.create_proxy("placeholder", f"input_{i}", (), {})))
            return root_fn, args
        arg_names = [next(names) for _ in range(len(args), total_args)]
        if isinstance(concrete_args, tuple):
            if len(arg_names) != len(concrete_args):
                raise RuntimeError(
                    f"Tracing expected {len(arg_names)} arguments but got {len(concrete_args)} concrete arguments"
                )
            concrete_args = dict(zip(arg_names, concrete_args, strict=True))
        signature = inspect.signature(fn)
        args += [self._proxy_placeholder(name, concrete_args, signature, fn) for name in arg_names]
        if code.co_kwonlyargcount > 0 or has_varstuff:
            if code.co_flags & inspect.CO_VARARGS:
                args.append(self._proxy_placeholder("*" + next(names), concrete_args, signature, fn))
            if code.co_flags & inspect.CO_VARKEYWORDS:
                args.append(self._proxy_placeholder("**" + next(names), concrete_args, signature, fn))
            root_fn = _patch_function(root_fn, len(args))  # type: ignore[arg-type]
        flat_args, in_spec = pytree.tree_flatten(tuple(args))
        if all(child.type is None for child in in_spec.children):
            return root_fn, args
        # A structure among the arguments: the placeholders are its leaves.
        codegen = _PyTreeCodeGen(_PyTreeInfo(list(code.co_varnames)[:total_args], in_spec, None))
        self.graph._codegen = codegen
        structured_fn = root_fn

        def flatten_fn(*args: Any):  # an annotation would appear in the graph
            out = structured_fn(*pytree.tree_unflatten(list(args), in_spec))
            out_args, out_spec = pytree.tree_flatten(out)
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return out_args

        return flatten_fn, flat_args

    def _keep_attributes(self, value: Any, proxy: Proxy) -> Proxy:
        """Give the placeholder of a :class:`PHWithMeta` the attributes of the latter."""
        if isinstance(value, PHBase) and value is not PH:
            _transfer_attrs(fr=value, to=proxy.node)
        return proxy

    def _proxy_placeholder(
        self,
        name: str,
        concrete_args: dict[str, Any] | None,
        sig: inspect.Signature,
        fn_for_analysis: Callable[..., Any],
    ) -> Any:
        """Return what the traced function gets for a parameter: a proxy, or the structure of concrete values."""
        default: tuple[Any, ...] = ()
        if name[0] != "*" and sig.parameters[name].default is not inspect.Parameter.empty:
            default = (sig.parameters[name].default,)
        if concrete_args is None or name not in concrete_args:
            annotation = _annotations(fn_for_analysis).get(name)
            return self.create_proxy("placeholder", name, default, {}, type_expr=annotation)
        count = 0

        def replace_ph(value: Any) -> Any:
            nonlocal count
            count += 1
            proxy = self.create_proxy("placeholder", f"{name}_{count}", default, {})
            if isinstance(value, PHBase):
                return self._keep_attributes(value, proxy)
            # The graph is right for this value only, so the graph checks for it.
            if type(value) is bool or (type(value) in base_types and not isinstance(value, Tensor)):
                message = f"{name} has been specialized to have value {value} but got another value"
                reftorch._assert(proxy == value, message)
            elif value is None:
                message = f"{name} has been specialized to have value None but got another value"
                self.create_proxy("call_function", _assert_is_none, (proxy, message), {})
            else:
                _warnings.warn(
                    f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is "
                    "up to the user to make sure that your inputs match the inputs you specialized the function with."
                )
            return value

        return pytree.tree_map(replace_ph, concrete_args[name])

    def trace(self, root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> Graph:
        """Run a module or a function on proxies, and return the graph of what it did.

        Args:
            root: the module or function.
            concrete_args: values of parameters, see :func:`symbolic_trace`.

        Raises:
            TraceError: the program needs the value of a proxy, for example in an ``if``.

        Example:
            >>> print(torch.fx.Tracer().trace(lambda x: x + 1))
            graph():
                %x : [num_users=1] = placeholder[target=x]
                %add : [num_users=1] = call_function[target=operator.add](args = (%x, 1), kwargs = {})
                return add

        Mirrors torch/fx/_symbolic_trace.py, ``Tracer.trace``.
        """
        global _is_fx_tracing_flag
        was_tracing, _is_fx_tracing_flag = _is_fx_tracing_flag, True
        try:
            if isinstance(root, Module):
                self.root = root
                if not hasattr(type(root), self.traced_func_name):
                    raise AssertionError(
                        f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}"
                    )
                fn = getattr(type(root), self.traced_func_name)
                self.root_module_name = root._get_name()
                self.submodule_paths = {module: name for name, module in root.named_modules()}
            else:
                self.root = Module()
                fn = root
            self.graph = Graph(tracer_cls=type(self))
            if hasattr(fn, "__code__"):
                self.graph._co_fields = {
                    name: getattr(fn.__code__, name) for name in ("co_name", "co_filename", "co_firstlineno")
                }
            self._parameter_paths = {id(p): name for name, p in self.root.named_parameters()}
            self.tensor_attrs: dict[Any, str] = _constant_attributes(self.root)
            self._trace_function(fn, isinstance(root, Module), concrete_args)
            self.submodule_paths = None
        finally:
            _is_fx_tracing_flag = was_tracing
        return self.graph

    def _trace_function(self, fn: Any, is_module: bool, concrete_args: dict[str, Any] | None) -> None:
        if not isinstance(fn, FunctionType):
            raise AssertionError(f"Expected FunctionType, got {type(fn)}")
        fn_globals = fn.__globals__
        fn, args = self.create_args_for_root(fn, is_module, concrete_args)
        parameter_proxy_cache: dict[str, Proxy] = {}

        @functools.wraps(_orig_module_getattr)
        def module_getattr_wrapper(mod: Module, attr: str) -> Any:
            return self.getattr(attr, _orig_module_getattr(mod, attr), parameter_proxy_cache)

        @functools.wraps(_orig_module_call)
        def module_call_wrapper(mod: Module, *args: Any, **kwargs: Any) -> Any:
            def forward(*args: Any, **kwargs: Any) -> Any:
                return _orig_module_call(mod, *args, **kwargs)

            module_globals = getattr(getattr(mod, "forward", mod), "__globals__", {})
            _autowrap_check(patcher, module_globals, self._autowrap_function_ids)
            return self.call_module(mod, forward, args, kwargs)

        with _Patcher() as patcher:
            # A trace inside a trace patches these again.
            patcher.patch_method(Module, "__getattr__", module_getattr_wrapper, deduplicate=False)
            patcher.patch_method(Module, "__call__", module_call_wrapper, deduplicate=False)
            _patch_wrapped_functions(patcher)
            _autowrap_check(patcher, fn_globals, self._autowrap_function_ids)
            for module in self._autowrap_search:
                _autowrap_check(patcher, module.__dict__, self._autowrap_function_ids)
            annotation = _annotations(inspect.unwrap(fn)).get("return")
            self.create_node("output", "output", (self.create_arg(fn(*args)),), {}, type_expr=annotation)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        copied = type(self).__new__(type(self))
        for key, value in self.__dict__.items():
            # Modules of Python cannot be copied.
            copied.__dict__[key] = copy.copy(value) if key == "_autowrap_search" else copy.deepcopy(value, memo)
        return copied


def _annotations(fn: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of a function. Those of this library are strings, and ``Any`` where PyTorch has none."""
    if not is_ours(fn.__module__):
        return inspect.get_annotations(fn)
    try:
        annotations = inspect.get_annotations(fn, eval_str=True)
    except NameError:  # a name that only type checkers import
        return {}
    return {name: annotation for name, annotation in annotations.items() if annotation is not Any}


def _constant_attributes(root: Module) -> dict[Any, str]:
    """Return the paths of the tensors that are attributes of modules but neither parameters nor buffers."""
    found: dict[Any, str] = {}
    # A module may be found on several paths; PyTorch notes the last one.
    for path, module in root.named_modules(remove_duplicate=False):
        for name, value in vars(module).items():
            if isinstance(value, _constant_attribute_types):
                found[value] = f"{path}.{name}" if path else name
    return found


# ---- replacing functions while a program is traced ----

# The functions that wrap() registered: the globals in which they are found, by the id of the globals and the name.
_wrapped_fns_to_patch: dict[tuple[int, str], dict[str, Any]] = {}
# Methods that are recorded if an argument is a proxy: class and name.
_wrapped_methods_to_patch: list[tuple[type, str]] = []


def _find_proxy(*objects_to_search: Any) -> Proxy | None:
    """Return a proxy in a structure, or None."""
    found: list[Proxy] = []
    map_aggregate(objects_to_search, lambda x: found.append(x) if isinstance(x, Proxy) else None)
    return found[-1] if found else None


def _create_wrapped_func(orig_fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that records a call of ``orig_fn`` if an argument is a proxy, and else calls ``orig_fn``."""

    @functools.wraps(orig_fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        result = proxy.tracer.create_proxy("call_function", orig_fn, args, kwargs)
        result.node.meta["is_wrapped"] = True
        return result

    return wrapped


def _create_wrapped_method(cls: type, name: str) -> Callable[..., Any]:
    """Return a method that records a call of the method ``name`` of ``cls`` if an argument is a proxy."""
    orig_fn = getattr(cls, name)

    @functools.wraps(orig_fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return wrapped


class _Patcher:
    """Replaces global functions and methods, and puts them back at the end of a ``with`` block.

    Mirrors torch/fx/_symbolic_trace.py, ``_Patcher``.
    """

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self._visited: set[int] = set()

    def patch(self, frame_dict: dict[str, Any], name: str, new_fn: Any) -> None:
        """Replace a global function, unless it is replaced already; a builtin function gets a global of its name."""
        new_fn.__fx_already_patched = True
        if name not in frame_dict and hasattr(builtins, name):
            self._undo.append(lambda: frame_dict.__delitem__(name))
        elif getattr(frame_dict[name], "__fx_already_patched", False):
            return
        else:
            orig_fn = frame_dict[name]
            self._undo.append(lambda: frame_dict.__setitem__(name, orig_fn))
        frame_dict[name] = new_fn

    def patch_method(self, cls: type, name: str, new_fn: Any, deduplicate: bool = True) -> None:
        """Replace a method; with ``deduplicate`` only if it is not replaced already."""
        new_fn.__fx_already_patched = deduplicate
        orig_fn = getattr(cls, name)
        if not getattr(orig_fn, "__fx_already_patched", False):
            self._undo.append(lambda: setattr(cls, name, orig_fn))
            setattr(cls, name, new_fn)

    def visit_once(self, thing: Any) -> bool:
        """Return whether this is the first call with an object."""
        first = id(thing) not in self._visited
        self._visited.add(id(thing))
        return first

    def __enter__(self) -> _Patcher:
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        while self._undo:
            self._undo.pop()()
        self._visited.clear()


def _patch_wrapped_functions(patcher: _Patcher) -> None:
    for (_, name), frame_dict in list(_wrapped_fns_to_patch.items()):
        if name not in frame_dict and hasattr(builtins, name):
            orig_fn = getattr(builtins, name)
        else:
            orig_fn = frame_dict[name]
        patcher.patch(frame_dict, name, _create_wrapped_func(orig_fn))
    for cls, name in _wrapped_methods_to_patch:
        patcher.patch_method(cls, name, _create_wrapped_method(cls, name))


def _autowrap_check(patcher: _Patcher, frame_dict: dict[str, Any], function_ids: set[int]) -> None:
    """Replace the functions of ``math`` and the like among the globals of a function that is being traced."""
    if patcher.visit_once(frame_dict):
        for name, value in list(frame_dict.items()):
            if id(value) in function_ids and not name.startswith("_") and callable(value):
                patcher.patch(frame_dict, name, _create_wrapped_func(value))


def wrap(fn_or_name: _F) -> _F:
    """Register a global function as a leaf: a call of it becomes one node, and the tracer does not enter it.

    Call ``wrap`` at the top of a module: with the name of a global or builtin function, or as a decorator.

    Args:
        fn_or_name: the function, or its name.

    Returns:
        ``fn_or_name``.

    Raises:
        RuntimeError: ``fn_or_name`` is neither a function nor a string.
        NotImplementedError: the caller is a function.

    Example:
        >>> _ = torch.fx.wrap("len")
        >>> def mean(x):
        ...     return x.sum() / len(x)
        >>> torch.fx.symbolic_trace(mean)(torch.tensor([1.0, 3.0]))
        tensor(2.)

    Mirrors torch/fx/_symbolic_trace.py, ``wrap``.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    if frame.f_back.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_fns_to_patch[(id(frame.f_back.f_globals), name)] = frame.f_back.f_globals
    return fn_or_name


def symbolic_trace(root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """Trace a module or a function: run it on proxies, and return a module that does what it did.

    The program must do the same for all inputs. An ``if`` that depends on a parameter can be decided by giving the
    parameter's value.

    Args:
        root: the module or function.
        concrete_args: values of parameters by name. A structure of values makes the leaves of the structure parameters
            of the graph; ``fx.PH`` stands for a leaf that remains unknown.

    Returns:
        A module whose ``code`` and ``graph`` show the program.

    Raises:
        TraceError: the program needs the value of a proxy.

    Example:
        >>> def f(x, double):
        ...     if double:
        ...         x = x * 2
        ...     return torch.relu(x)
        >>> torch.fx.symbolic_trace(f)
        Traceback (most recent call last):
        ...
        reftorch.fx.proxy.TraceError: symbolically traced variables cannot be used as inputs to control flow
        >>> traced = torch.fx.symbolic_trace(f, concrete_args={"double": False})
        >>> print(traced.code.strip())
        def forward(self, x, double_1):
            eq = double_1 == False;  double_1 = None
            _assert = torch._assert(eq, 'double has been specialized to have value False but got another value');  ...
            relu = torch.relu(x);  x = None
            return relu

    Mirrors torch/fx/_symbolic_trace.py, ``symbolic_trace``.
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


@wrap
def _assert_is_none(value: Any, msg: str) -> None:
    if value is not None:
        raise AssertionError(msg)
