"""PyTorch's places for the classes and functions of this library: what ``__module__`` says, and how it is found again.

Mirrors: nothing in PyTorch: it has one file where this library has several, and one name.

Note [Places of names]
Problem: pickles, error messages and traced programs contain the module of a class or function, and programs assign to
variables of a module: ``torch.nn.modules.module._global_forward_hooks = OrderedDict()``. But some files of PyTorch are
packages here, whose parts have names that PyTorch does not know. Trick: the package that stands for PyTorch's file
calls :func:`split`. Then whatever its parts define says the package's name, a name that the package lacks is looked up
in the parts, and an assignment to the package reaches each part that uses the name, so that there is one variable.
A module that shows names of another private file calls :func:`adopt`. The names that PyTorch has at another place are
in one table, ``MOVED``; all others differ by the name of the library only. Limits: ``inspect.getsource`` of a class
looks into the file of its module, so tools that show sources ask :func:`defining_module`.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

__all__ = [
    "MOVED",
    "SplitModule",
    "adopt",
    "called",
    "defining_module",
    "find",
    "in_torch",
    "is_ours",
    "say_torch",
    "split",
]

OURS, TORCH = "reftorch", "torch"

# Names in PyTorch's files and here, if more differs than the name of the library.
MOVED = {
    ("torch._utils", "_rebuild_parameter"): ("reftorch.nn.parameter", "_rebuild_parameter"),
    ("torch._utils", "_rebuild_parameter_with_state"): ("reftorch.nn.parameter", "_rebuild_parameter_with_state"),
    ("torch._linalg_utils", "_symeig"): ("reftorch._linalg_utils", "symeig"),
    ("torch._C._nn", "log_sigmoid"): ("reftorch.nn.functional", "logsigmoid"),
    ("torch.nn.functional", "_threshold"): ("reftorch.nn.functional", "threshold"),
    ("torch", "PyTorchFileReader"): ("reftorch.serialization", "PyTorchFileReader"),
    ("torch", "ScriptModule"): ("reftorch.jit", "_ScriptModule"),
    ("torch.jit", "Future"): ("reftorch.futures", "Future"),
    ("torch._C._profiler", "ProfilerActivity"): ("reftorch.profiler.profiler", "ProfilerActivity"),
    ("torch._C._distributed_c10d", "BuiltinCommHookType"): ("reftorch.distributed._grad_bucket", "BuiltinCommHookType"),
    ("torch._C._distributed_c10d", "GradBucket"): ("reftorch.distributed._grad_bucket", "GradBucket"),
    ("torch._C._distributed_c10d", "Logger"): ("reftorch.distributed._logger", "Logger"),
    ("torch._C._distributed_c10d", "Reducer"): ("reftorch.distributed._reducer", "Reducer"),
}
_BACK = {here: there for there, here in MOVED.items()}

# The binding's names in PyTorch's files: the module, a prefix that its names have, and where they are public.
_BINDING = {
    "torch._C._fft": ("fft_", "reftorch.fft"),
    "torch._C._linalg": ("linalg_", "reftorch.linalg"),
    "torch._C._nn": ("", "reftorch.nn.functional"),
    "torch._C._special": ("special_", "reftorch.special"),
}

_alias_is_installed = False
_defined_in: dict[Any, str] = {}  # the part that defines a class or function, where __module__ names the package


def called() -> str:
    """Return the name by which the program knows this library: ``torch`` under ``python -m reftorch``."""
    return TORCH if _alias_is_installed else OURS


def is_ours(module: str | None) -> bool:
    """Return whether a module of this name, as ``__module__`` says it, belongs to this library."""
    package = (module or "").partition(".")[0]
    return package == OURS or (_alias_is_installed and package == TORCH)


def in_torch(module: str, name: str) -> tuple[str, str]:
    """Return the module and the name in PyTorch of a class or function of this library; any other keeps its own.

    >>> in_torch("reftorch.nn.modules.linear", "Linear")
    ('torch.nn.modules.linear', 'Linear')
    """
    return _BACK.get((_renamed(module, OURS), name)) or (_renamed(module, TORCH), name)


def find(module: str, name: str) -> Any:
    """Return the object that a file names. PyTorch's names are looked up in this library.

    Raises:
        ImportError, AttributeError: there is no such object.
    """
    if (module, name) in (("torch._C", "_VariableFunctionsClass"), ("torch._C", "TensorBase")):
        library: Any = sys.modules[OURS]  # the owners of all functions and methods, of which some are Python's here
        return library.Tensor if name == "TensorBase" else library
    prefix, public = _BINDING.get(module, ("", ""))
    if public and (module, name) not in MOVED and hasattr(sys.modules[public], name.removeprefix(prefix)):
        return getattr(sys.modules[public], name.removeprefix(prefix))
    here, attribute = MOVED.get((module, name)) or (_renamed(module, OURS, TORCH), name)
    value: Any = importlib.import_module(here) if here not in sys.modules else sys.modules[here]
    for part in attribute.split("."):
        value = getattr(value, part)
    return value


def adopt(module: str, names: Iterable[str], namespace: dict[str, Any]) -> None:
    """Make the functions and classes ``names`` of ``namespace`` members of ``module``, whichever file defines them."""
    for name in names:
        _move(namespace[name], module)


def split(package: str, *classes: type, kind: type[ModuleType] | None = None) -> None:
    """Make a package whose modules are parts of one file of PyTorch behave as that file: see Note [Places of names].

    The package calls this function at the end of its ``__init__``, when all parts are imported.

    Args:
        package: its name.
        classes: the classes of PyTorch's file that inherit methods from classes of the parts.
        kind: the class of the module, if it does more than :class:`SplitModule`.
    """
    module: Any = sys.modules[package]
    parts = [part for name, part in sys.modules.items() if name.rpartition(".")[0] == package]
    for part in parts:
        for value in list(vars(part).values()):
            if getattr(value, "__module__", None) == part.__name__:
                _evaluate_annotations(value, vars(part))
                _move(value, package)
    for cls in classes:
        for base in cls.__mro__[1:]:
            if base.__module__ == package:
                for name, member in vars(base).items():
                    for function in _functions(member):
                        function.__qualname__ = f"{cls.__qualname__}.{name}"
    namespace = vars(module)
    namespace["_missing"] = namespace.get("__getattr__")  # explains a missing name, or becomes a function that does

    def __getattr__(name: str) -> Any:
        """Return what a part calls ``name``."""
        for part in module._owners().get(name, ())[:1]:
            return part[name]
        if namespace["_missing"] is not None:
            return namespace["_missing"](name)
        raise AttributeError(f"module '{module.__name__}' has no attribute '{name}'", name=name, obj=module)

    namespace["__getattr__"] = __getattr__
    namespace["_parts"], namespace["_before"] = parts, {}
    module.__class__ = kind or SplitModule


def _evaluate_annotations(value: Any, namespace: dict[str, Any]) -> None:
    """Replace the texts of a class's annotations by what they mean where the class was written.

    ``typing.get_type_hints`` looks the names of a text up in the module that the class says it is from. A text with a
    name that only type checkers see stays a text.
    """
    for name, text in list(vars(value).get("__annotations__", {}).items()) if isinstance(value, type) else ():
        if isinstance(text, str):
            with contextlib.suppress(NameError):
                value.__annotations__[name] = eval(text, namespace)


class SplitModule(ModuleType):
    """A package that stands for one file of PyTorch. An assignment reaches the parts that use the name.

    Tools that replace a variable for a while delete the replacement if they do not find the variable in the package's
    own namespace; then the parts get the old value back.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        owners = self._owners().get(name, [])
        for namespace in owners:
            vars(self)["_before"].setdefault(name, namespace[name])
            namespace[name] = value
        if not owners or name in vars(self):  # else a part may rebind the variable: it has the only value
            super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if name in vars(self) or name not in vars(self)["_before"]:
            super().__delattr__(name)
            return
        for namespace in self._owners()[name]:
            namespace[name] = vars(self)["_before"][name]

    def _owners(self) -> dict[str, list[dict[str, Any]]]:
        """Return, by name, the namespaces of the parts that have the object before any assignment."""
        own = vars(self)
        if "_owners_of" not in own:
            owners: dict[str, list[dict[str, Any]]] = {}
            own["_owners_of"] = owners
            for part in own["_parts"]:
                for name, value in vars(part).items():
                    first = own.get(name, owners[name][0][name] if name in owners else value)
                    if value is first and not name.startswith("__"):
                        owners.setdefault(name, []).append(vars(part))
        return own["_owners_of"]


def _move(value: Any, module: str) -> None:
    if isinstance(value, _MEMBERS) and value.__module__ != module:
        _defined_in.setdefault(value, value.__module__)
        before, value.__module__ = value.__module__, module
        if isinstance(value, type):
            for member in vars(value).values():
                for function in _functions(member):
                    if function.__module__ == before:
                        function.__module__ = module


_MEMBERS = (FunctionType, BuiltinFunctionType, type)


def defining_module(value: Any) -> ModuleType | None:
    """Return the module whose file contains a class or function."""
    known = _defined_in.get(value) if isinstance(value, _MEMBERS) else None
    return sys.modules.get(known or getattr(value, "__module__", None) or "")


# ---- the name torch


def say_torch(module: ModuleType) -> None:
    """Let a module of this library, and what it defines, say ``torch``: the program imports it by that name."""
    global _alias_is_installed
    _alias_is_installed = True
    if not is_ours(module.__name__):
        return
    module.__name__ = _renamed(module.__name__, TORCH)
    sys.modules.setdefault(module.__name__, module)
    for value in list(vars(module).values()):
        _say_torch(value)


def _say_torch(value: Any) -> None:
    place = getattr(value, "__module__", None) if not isinstance(value, ModuleType) else None
    if not isinstance(place, str) or not place.startswith(OURS):
        return
    try:
        value.__module__ = _renamed(place, TORCH)
    except (AttributeError, TypeError):
        return  # an object that reads its class's module, or an immutable type
    if isinstance(value, type):
        for member in list(vars(value).values()):
            for function in _functions(member):
                _say_torch(function)


def _functions(member: Any) -> list[Any]:
    """Return the functions of an entry of a class: one for a method, up to three for a property."""
    if isinstance(member, property):
        return [function for function in (member.fget, member.fset, member.fdel) if isinstance(function, FunctionType)]
    member = getattr(member, "__func__", member)  # of a staticmethod or classmethod
    return [member] if isinstance(member, FunctionType) else []


def _renamed(module: str, package: str, *others: str) -> str:
    first, dot, rest = module.partition(".")
    return package + dot + rest if is_ours(first) or first in others else module
