"""Ops by the names of their schemas: ``torch.ops.aten.add.Tensor`` is the overload ``aten::add.Tensor`` and no other.

``torch.add`` finds the overload that its arguments fit. Programs that transform other programs (a tracer, a
``__torch_dispatch__``, a test of one overload) name the overload. Both call the same entry of the Dispatcher, so
gradients and transforms work as they do through ``torch.add``. An op that ``torch.library`` defines is found here too.

Mirrors: torch/_ops.py
Leaves out: higher-order operators, the Python dispatcher and its cache, overloads on numbers (``aten::add.int``).
    The names of overloads are PyTorch's (_overload_names.py), and the names in the Dispatcher here find them, too. The
    file is more than 500 lines long, because packets, overloads and schemas refer to each other.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from reftorch import _C
from reftorch._overload_names import in_cpp, in_torch
from reftorch._torch_function import _relevant, handle_torch_function


class AliasInfo(NamedTuple):
    """The alias annotation of an argument or result in a schema, such as ``(a!)``.

    Mirrors: aten/src/ATen/core/alias_info.h
    """

    before_set: frozenset[str]
    is_write: bool


def _alias_info(type: str) -> AliasInfo | None:
    """Parse the part of ``Tensor(a!)?`` in parentheses."""
    _, parenthesis, rest = type.partition("(")
    if not parenthesis:
        return None
    letter = rest.partition(")")[0]
    return AliasInfo(frozenset([letter.removesuffix("!")]), letter.endswith("!"))


class Argument(NamedTuple):
    """One parameter of a schema."""

    name: str
    type: str
    kwarg_only: bool
    has_default: bool
    default_value: Any

    @property
    def alias_info(self) -> AliasInfo | None:
        """The alias annotation of the argument; None if the schema has none."""
        return _alias_info(self.type)

    @property
    def is_out(self) -> bool:
        """Whether the op writes its result to the argument."""
        return self.kwarg_only and self.alias_info is not None and self.alias_info.is_write


class FunctionSchema:
    """The name, arguments and results of an overload. ``str()`` returns the schema as PyTorch writes it.

    Mirrors: aten/src/ATen/core/function_schema.h

    Example:
        >>> schema = torch.ops.aten.add.Tensor._schema
        >>> [argument.name for argument in schema.arguments]
        ['self', 'other', 'alpha']
        >>> schema.overload_name
        'Tensor'
    """

    def __init__(self, entry: dict[str, Any]) -> None:
        self.name, _, self.overload_name = entry["name"].partition(".")
        self.arguments = [
            Argument(a["name"], a["type"], a["kwarg_only"], a["has_default"], a["default"]) for a in entry["arguments"]
        ]
        self.returns = [Argument(name, type, False, False, None) for name, type in entry["returns"]]
        self._text = entry["schema"]

    @property
    def is_mutable(self) -> bool:
        """Whether the op writes to an argument."""
        return any(a.alias_info is not None and a.alias_info.is_write for a in self.arguments)

    def _is_view_op(self) -> bool:
        """Whether a result shares the memory of an argument that the op does not write to."""
        return not self.is_mutable and any(r.alias_info is not None for r in self.returns)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


def _is_of_the_parser(error: TypeError, name: str) -> bool:
    """Return whether arguments did not fit the schema; an error of a kernel, C++'s or Python's, is left as it is."""
    traceback = error.__traceback__
    inside = traceback is not None and traceback.tb_next is not None
    return not inside and re.match(rf"{name}\(\)(:| missing| takes| got an? | received an)", str(error)) is not None


def _refusal(schema: FunctionSchema, args: tuple, kwargs: dict[str, Any], text: str) -> str:
    """Return why these arguments do not fit a schema, in the words of PyTorch's dispatcher."""
    declared, declaration = schema.arguments, f"Declaration: {schema}"
    positional = sum(not argument.kwarg_only for argument in declared)
    count = len(args) + len(kwargs)
    if count > len(declared):
        return f"{schema.name}() expected at most {len(declared)} argument(s) but received {count} argument(s). " + (
            declaration
        )
    if len(args) > positional:
        return f"{schema.name}() takes {positional} positional argument(s) but {len(args)} was/were given.  " + (
            declaration
        )
    unknown = [name for name in kwargs if name not in {argument.name for argument in declared}]
    if unknown:
        return f"Unknown keyword argument '{unknown[0]}' for operator '{schema.name}'. Schema: {schema}"
    given = {argument.name for argument in declared[: len(args)]} | kwargs.keys()
    missing = [argument.name for argument in declared if argument.name not in given and not argument.has_default]
    if missing:
        return f"{schema.name}() is missing value for argument '{missing[0]}'. {declaration}"
    match = re.search(r"argument '\w+' \(position (\d+)\)", text)
    if match is None or int(match[1]) > len(declared):
        return f"{text}. {declaration}"
    position = int(match[1]) - 1
    argument = declared[position]
    value = args[position] if position < len(args) else kwargs.get(argument.name)
    return (
        f"{schema.name}() Expected a value of type '{argument.type}' for argument '{argument.name}' but instead found "
        f"type '{type(value).__name__}'.\nPosition: {position}\nValue: {value!r}\n{declaration}"
    )


def parse_schema(text: str) -> FunctionSchema:
    """Parse a schema, such as ``mylib::sin(Tensor x) -> Tensor``.

    Raises:
        RuntimeError: the text is not a schema. The message shows the position of the error.

    Example:
        >>> from reftorch._ops import parse_schema
        >>> [argument.name for argument in parse_schema("mylib::f(Tensor x, int n=2) -> Tensor").arguments]
        ['x', 'n']

    Mirrors torch/csrc/jit/frontend/function_schema_parser.cpp, ``parseSchema``.
    """
    return FunctionSchema(_C.parse_schema(text))


def _overloads_of(qualified_name: str) -> dict[str, FunctionSchema]:
    """Return the overloads of a name, such as ``{"Tensor": schema, "Scalar": schema}``; empty for an unknown name."""
    found = (FunctionSchema(_named_as_in_torch(entry)) for entry in _C._get_op_schemas(qualified_name))
    return {schema.overload_name or "default": schema for schema in found}


def _named_as_in_torch(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the facts about an overload under PyTorch's name."""
    op, _, overload = entry["name"].partition(".")
    there = in_torch(op, overload)
    name = f"{op}.{there}" if there else op
    return {**entry, "name": name, "schema": name + entry["schema"][entry["schema"].index("(") :]}


class OpOverload:
    """One overload of an op. A call goes to this overload, whatever the types of the arguments are.

    Example:
        >>> torch.ops.aten.sum.dim_IntList(torch.ones(2, 3), [0])
        tensor([2., 2., 2.])
        >>> torch.ops.aten.sum.dim_IntList
        <OpOverload(op='aten.sum', overload='dim_IntList')>
    """

    def __init__(self, packet: OpOverloadPacket, overload: str) -> None:
        self._overloadpacket = packet
        self._overloadname = overload
        self._schema = packet._schemas[overload]
        here = in_cpp(packet._qualified_op_name, overload)
        self._name_in_cpp = f"{packet._qualified_op_name}.{here}" if here else packet._qualified_op_name
        self._op = _C._get_operation(packet._qualified_op_name, here)
        self._name = self._schema.name + ("" if overload == "default" else "." + overload)
        self._namespace, _, self._opname = self._schema.name.partition("::")
        self._tags: list[Any] = []
        self.py_kernels: dict[_C.DispatchKey, Callable[..., Any]] = {}
        self.python_key_table: dict[type, Callable[..., Any]] = {}
        self.__name__ = f"{packet.__name__}.{overload}"
        self.__qualname__ = self._name
        self.__module__ = packet.__module__

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if _C._call_has_torch_function(args, kwargs):  # which gets this object, and not the function of C++
            return handle_torch_function(self, _relevant(args, kwargs), *args, **kwargs)
        try:
            return self._op(*args, **kwargs)
        except TypeError as error:
            if not _is_of_the_parser(error, self._opname):
                raise
            raise RuntimeError(_refusal(self._schema, args, kwargs, str(error))) from None

    def redispatch(self, /, keyset: _C.DispatchKeySet, *args: Any, **kwargs: Any) -> Any:
        """Call the kernel of the highest key of ``keyset``.

        A kernel that was registered with ``with_keyset=True`` calls the kernels below it in this way.

        Args:
            keyset: the keys from which the Dispatcher chooses.
            args: the op's arguments.
            kwargs: the op's arguments by name.

        Raises:
            NotImplementedError: the op has no kernel for the highest key.

        Example:
            >>> below = torch._C._dispatch_keys(torch.ones(2)) & torch._C._after_autograd_keyset
            >>> torch.ops.aten.neg.default.redispatch(below, torch.ones(2))
            tensor([-1., -1.])

        Mirrors torch/_ops.py, ``OpOverload.redispatch``.
        """
        return self._op.redispatch(keyset, *args, **kwargs)

    def has_kernel_for_dispatch_key(self, k: Any) -> bool:
        """Whether a kernel is registered for exactly this key (a DispatchKey or its name). Fallbacks do not count."""
        return k in self.py_kernels or _C._dispatch_has_kernel_for_dispatch_key(
            self._name_in_cpp, getattr(k, "name", k)
        )

    def py_impl(self, k: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Store a Python function with the op, for programs that transform other programs.

        A call of the op does not use this function, in PyTorch either: the Dispatcher uses the op's table, and a mode
        its ``__torch_dispatch__``. ``decompose`` uses the function. To register a kernel that calls use, see
        ``torch.library.Library.impl``.

        Args:
            k: the row, as a ``_C.DispatchKey``, or the class of mode or tensor to which the function belongs.

        Returns:
            A decorator that stores a function in ``py_kernels`` or ``python_key_table`` and returns the function.

        Raises:
            AssertionError: ``k`` is neither of these, is ``DispatchKey.Python``, or is a class that already has a
                function.
            RuntimeError: the row already has a function.

        Example:
            >>> with torch.library._scoped_library("mylib", "FRAGMENT") as lib:
            ...     _ = lib.define("ninefold(Tensor x) -> Tensor")
            ...     op = torch.ops.mylib.ninefold.default
            ...     @op.py_impl(torch._C.DispatchKey.CompositeImplicitAutograd)
            ...     def ninefold(x):
            ...         return x * 9
            ...     op.decompose(torch.ones(1))
            tensor([9.])

        Mirrors torch/_ops.py, ``OperatorBase.py_impl``.
        """

        def inner(fn: Callable[..., Any]) -> Callable[..., Any]:
            if isinstance(k, type):
                if k in self.python_key_table:
                    raise AssertionError(f"{k} already registered in python_key_table")
                self.python_key_table[k] = fn
                return fn
            if not isinstance(k, _C.DispatchKey):
                raise AssertionError(f"expected DispatchKey, got {type(k)}")
            if k == _C.DispatchKey.Python:
                raise AssertionError("Please register a mode for the DispatchKey.Python key instead.")
            if k in self.py_kernels:
                raise RuntimeError(f"Trying to override a python impl for {k} on operator {self.name()}")
            self.py_kernels[k] = fn
            return fn

        return inner

    def decompose(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the op by other ops.

        Returns:
            The op's result; NotImplemented if the op is not made of other ops.

        Example:
            >>> torch.ops.aten.add.Tensor.decompose(torch.ones(1), torch.ones(1))
            NotImplemented

        Mirrors torch/_ops.py, ``OpOverload.decompose``.
        """
        key = _C.DispatchKey.CompositeImplicitAutograd
        if key in self.py_kernels:
            return self.py_kernels[key](*args, **kwargs)
        if _C._dispatch_has_kernel_for_dispatch_key(self._name_in_cpp, key.name):
            return self._op(*args, **kwargs)
        return NotImplemented

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        """The packet with all overloads of the name."""
        return self._overloadpacket

    @property
    def op(self) -> Any:
        """The C++ function that calls the overload."""
        return self._op

    @property
    def namespace(self) -> str:
        """The namespace of the op: ``aten``, or that of the library that defines the op."""
        return self._namespace

    @property
    def is_view(self) -> bool:
        """Whether a result is a view of an argument."""
        return self._schema._is_view_op()

    def name(self) -> str:
        """Return the full name of the overload, such as ``aten::add.Tensor``."""
        return self._name

    @property
    def tags(self) -> list[Any]:
        """Facts about the op that its schema does not contain, as members of ``torch.Tag``.

        An op that is defined in Python has the tags given at its definition.

        Example:
            >>> torch.ops.aten.nonzero.default.tags
            [<Tag.dynamic_output_shape: 1>]
            >>> torch.Tag.inplace_view in torch.ops.aten.t_.default.tags
            True

        Mirrors torch/_ops.py, ``OpOverload.tags``.
        """
        return [*_C._dispatch_tags(self._name_in_cpp), *self._tags]

    def __deepcopy__(self, memo: dict[int, Any]) -> OpOverload:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _overload_of_torch, (self._schema.name, self._overloadname)

    def __str__(self) -> str:
        return f"{self._namespace}.{self.__name__}"

    def __repr__(self) -> str:
        op = f"{self._namespace}.{self._opname}"
        return f"<OpOverload(op='{op}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """All overloads of a name. A call uses the first overload that fits the arguments.

    Example:
        >>> torch.ops.aten.mul(torch.ones(2), 3)
        tensor([3., 3.])
        >>> "Tensor" in torch.ops.aten.mul.overloads()
        True
    """

    def __init__(self, qualified_name: str) -> None:
        self._qualified_op_name = qualified_name
        self._namespace, _, self.__name__ = qualified_name.partition("::")
        self.__module__ = "torch.ops." + self._namespace
        self._refresh()

    def _refresh(self) -> None:
        """Read the list of overloads again, after a library has changed it."""
        self._schemas = _overloads_of(self._qualified_op_name)
        self._op = _C._get_operation(self._qualified_op_name, None)
        self._overload_names = list(self._schemas)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if _C._call_has_torch_function(args, kwargs):  # which gets this object, and not the function of C++
            return handle_torch_function(self, _relevant(args, kwargs), *args, **kwargs)
        try:
            return self._op(*args, **kwargs)
        except TypeError as error:
            if not _is_of_the_parser(error, self.__name__):
                raise
            reasons = (_refusal(schema, args, kwargs, str(error)) for schema in self._schemas.values())
            text = "\n\n".join(["Overloaded torch operator invoked from Python failed to match any schema:", *reasons])
            raise RuntimeError(text) from None

    def overloads(self) -> list[str]:
        """Return the names of the overloads. An overload without a name is called ``default``."""
        return list(self._overload_names)

    @property
    def op(self) -> Any:
        """The C++ function that calls the first overload that fits."""
        return self._op

    def __getattr__(self, overload: str) -> OpOverload:
        if overload.startswith("__") or "_overload_names" not in self.__dict__:
            raise AttributeError(f"'OpOverloadPacket' object has no attribute '{overload}'")
        name = overload
        if name not in self._overload_names:  # the name in the Dispatcher here, or `out` for the out= variant
            there = in_torch(self._qualified_op_name, overload) or "default"
            name = "Tensor_out" if overload == "out" else there
        if name not in self._overload_names:
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{overload}'")
        found = self.__dict__.get(name)
        if found is None:
            found = OpOverload(self, name)
            setattr(self, name, found)  # from now on an ordinary attribute, so __getattr__ is not called again
        return found

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._overload_names]

    def __deepcopy__(self, memo: dict[int, Any]) -> OpOverloadPacket:
        return self

    def __str__(self) -> str:
        return f"{self._namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


class _OpNamespace:
    """A namespace such as ``torch.ops.aten``. A packet is made when its name is first used."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, op_name: str) -> OpOverloadPacket:
        if op_name.startswith("__"):
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{op_name}'")
        qualified_name = f"{self.name}::{op_name}"
        if not _overloads_of(qualified_name):
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{op_name}'")
        packet = OpOverloadPacket(qualified_name)
        setattr(self, op_name, packet)
        return packet

    def _op_names(self) -> list[str]:
        prefix = self.name + "::"
        names = (name.partition(".")[0] for name in _C._dispatch_get_all_op_names())
        return sorted({name.removeprefix(prefix) for name in names if name.startswith(prefix)})

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._op_names()]

    def __repr__(self) -> str:
        return f"<namespace 'torch.ops.{self.name}'>"


# Namespaces whose ops are defined when a program first asks for one, each with the module that defines them.
_modules: dict[str, str] = {}


class _Ops:
    """``torch.ops``, which has every namespace. ``aten``, ``profiler`` and those that libraries define have ops."""

    def __init__(self) -> None:
        self.loaded_libraries: set[str] = set()

    def load_library(self, path: str | os.PathLike[str]) -> None:
        """Load a shared library that defines ops: its ``TORCH_LIBRARY`` blocks run as it starts.

        Args:
            path: the file, which was compiled against the headers of this library. The real path is added to
                ``torch.ops.loaded_libraries``.

        Raises:
            OSError: there is no such file, or it needs a library that is not there, such as those of PyTorch.

        Example::

            >>> import reftorch as torch
            >>> torch.ops.load_library("missing.so")
            Traceback (most recent call last):
            OSError: ...

        Mirrors torch/_ops.py, ``_Ops.load_library``.
        """
        path = os.path.realpath(path)
        importlib.import_module("ctypes").CDLL(path)  # not at the top: this function is seldom needed
        self.loaded_libraries.add(path)

    def __getattr__(self, name: str) -> _OpNamespace:
        if name.startswith("__"):
            raise AttributeError(f"'_Ops' object has no attribute '{name}'")
        if name in _modules:
            importlib.import_module(_modules[name])
        namespace = _OpNamespace(name)
        setattr(self, name, namespace)
        return namespace

    def __repr__(self) -> str:
        return "<torch.ops>"


ops = _Ops()


def _refresh_packet(qualified_name: str) -> None:
    """Update ``torch.ops`` after an overload of an op was added or removed.

    Mirrors torch/_ops.py, ``_refresh_packet``, and torch/library.py, ``_clear_torch_ops_cache``.
    """
    namespace, _, name = qualified_name.partition("::")
    space = getattr(ops, namespace)
    packet = vars(space).get(name)
    if packet is None:
        return
    schemas = _overloads_of(qualified_name)
    for overload in packet.overloads():
        if overload not in schemas:
            vars(packet).pop(overload, None)
    if schemas:
        packet._refresh()
    else:
        delattr(space, name)


def _overload(qualified_name: str, overload_name: str) -> OpOverload:
    """Return an overload by its names here. C++ calls this function to pass an op to Python."""
    return _overload_of_torch(qualified_name, in_torch(qualified_name, overload_name) or "default")


def _overload_of_torch(qualified_name: str, overload_name: str) -> OpOverload:
    """Return an overload by PyTorch's names."""
    namespace, _, name = qualified_name.partition("::")
    found: OpOverload = getattr(getattr(getattr(ops, namespace), name), overload_name)
    return found


_C._set_overload_resolver(_overload)


_NAMESPACES = (("torch", "_VariableFunctions"), ("torch._C._nn", "_nn"), ("torch._C._linalg", "_linalg"),
               ("torch._C._special", "_special"))  # fmt: skip


def module_of_op(function: Callable[..., Any]) -> str:
    """Return the module of PyTorch that has an op as a function, such as ``torch`` or ``torch._C._nn``."""
    for name, namespace in _NAMESPACES:
        if getattr(getattr(_C, namespace), function.__name__, None) is function:
            return name
    return "torch"
