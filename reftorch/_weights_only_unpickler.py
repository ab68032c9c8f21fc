"""Reading a pickle that may come from anybody: nothing is called but what rebuilds tensors and plain containers.

Mirrors: torch/_weights_only_unpickler.py
Leaves out: its own loop over opcodes. A pickle can only call what ``find_class`` hands out, so here Python's unpickler
runs with a ``find_class`` that knows a list.
"""

from __future__ import annotations

import contextlib
import importlib
import pickle
from collections.abc import Callable
from typing import Any

__all__ = [
    "add_safe_globals",
    "clear_safe_globals",
    "find_global",
    "get_safe_globals",
    "restricted_unpickler",
    "safe_globals",
]

# Where a name of PyTorch's files is here, apart from the package's name; the other way round when a file is written.
RENAMED = {
    ("torch._utils", "_rebuild_parameter"): ("reftorch.nn.parameter", "_rebuild_parameter"),
    ("torch._utils", "_rebuild_parameter_with_state"): ("reftorch.nn.parameter", "_rebuild_parameter_with_state"),
    ("torch._tensor", "_rebuild_from_type_v2"): ("reftorch._tensor.interchange", "_rebuild_from_type_v2"),
}

_SAFE_TORCH = {
    "torch": (
        "Size Tensor device float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool strided "
        "contiguous_format channels_last preserve_format DoubleStorage FloatStorage HalfStorage BFloat16Storage "
        "LongStorage IntStorage ShortStorage CharStorage ByteStorage BoolStorage"
    ),
    "torch.storage": "UntypedStorage TypedStorage",
    "torch._utils": "_rebuild_tensor _rebuild_tensor_v2 _rebuild_parameter _rebuild_parameter_with_state",
    "torch._tensor": "_rebuild_from_type_v2",
    "torch.nn.parameter": "Parameter Buffer",
}
_SAFE_PYTHON = {
    "collections": "OrderedDict Counter defaultdict",
    "builtins": "set frozenset bytearray complex int float bool str list dict tuple bytes slice",
    "_codecs": "encode",
}
_SAFE = {(module, name) for group in (_SAFE_TORCH, _SAFE_PYTHON) for module in group for name in group[module].split()}

_user_globals: list[Any] = []  # what add_safe_globals was told


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let :func:`load` with ``weights_only=True`` find these classes and functions.

    Args:
        safe_globals: classes and functions, or pairs of one and the full name that the file has for it.

    Example:
        >>> import decimal, reftorch as torch
        >>> torch.serialization.add_safe_globals([decimal.Decimal])
        >>> torch.serialization.get_safe_globals()
        [<class 'decimal.Decimal'>]
        >>> torch.serialization.clear_safe_globals()

    Mirrors torch/serialization.py, ``add_safe_globals``.
    """
    _user_globals.extend(safe_globals)


def get_safe_globals() -> list[Any]:
    """What :func:`add_safe_globals` was told."""
    return list(_user_globals)


def clear_safe_globals() -> None:
    """Forget what :func:`add_safe_globals` was told."""
    _user_globals.clear()


class safe_globals(contextlib.AbstractContextManager):
    """Within it, :func:`load` with ``weights_only=True`` finds these classes and functions.

    Example:
        >>> import fractions, io, reftorch as torch
        >>> file = io.BytesIO()
        >>> torch.save(fractions.Fraction(1, 2), file)
        >>> with torch.serialization.safe_globals([fractions.Fraction]):
        ...     torch.load(io.BytesIO(file.getvalue()))
        Fraction(1, 2)

    Mirrors torch/serialization.py, ``safe_globals``.
    """

    def __init__(self, safe_globals: list[Any]) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        self.before = get_safe_globals()
        add_safe_globals(self.safe_globals)

    def __exit__(self, *args: Any) -> None:
        _user_globals[:] = self.before


def _user_allowed() -> dict[str, Any]:
    """The user's classes and functions by their full names; a pair of one and a name gives the name."""
    allowed = {}
    for entry in _user_globals:
        obj, name = entry if isinstance(entry, tuple) else (entry, f"{entry.__module__}.{entry.__qualname__}")
        allowed[name] = obj
    return allowed


def in_torch(module: str, name: str) -> tuple[str, str]:
    """The name that a file has for a global of ours."""
    for theirs, ours in RENAMED.items():
        if ours == (module, name):
            return theirs
    package, _, rest = module.partition(".")
    if package != "reftorch":
        return module, name
    return ("torch" + (f".{rest}" if rest else "")), name


def find_global(module: str, name: str) -> Any:
    """What a file's global is here: PyTorch's names are ours, others are imported."""
    here, attribute = RENAMED.get((module, name), (module, name))
    package, _, rest = here.partition(".")
    if package == "torch":
        here = "reftorch" + (f".{rest}" if rest else "")
    if here == "__builtin__":  # of Python 2, and of pickle's protocols up to 2
        here = "builtins"
    value: Any = importlib.import_module(here)
    for part in attribute.split("."):
        value = getattr(value, part)
    return value


def _full_name(module: str, name: str) -> str:
    return f"{module}.{name}"


class UnsafeGlobal(pickle.UnpicklingError):
    """The pickle names something that is not on the list."""


def restricted_unpickler(
    file: Any, persistent_load: Callable[[Any], Any], met: set[str] | None = None, **options: Any
) -> pickle.Unpickler:
    """An unpickler that finds only what is safe.

    Args:
        file: the pickle's bytes, as a file.
        persistent_load: gives the storages.
        met: where given, names that are not safe are added to it instead of raising.
    """

    class WeightsUnpickler(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            safe = module.replace("__builtin__", "builtins"), name
            module_there, name_there = in_torch(*safe)
            if (module_there, name_there) in _SAFE:
                return find_global(module_there, name_there)
            allowed = _user_allowed()
            for candidate in (_full_name(module, name), _full_name(module_there, name_there)):
                if candidate in allowed:
                    return allowed[candidate]
            if met is not None:
                met.add(_full_name(module, name))
                return _Placeholder
            raise UnsafeGlobal(
                f"Unsupported global: GLOBAL {module}.{name} was not an allowed global by default. Please use "
                f"`torch.serialization.add_safe_globals([{name}])` or the "
                f"`torch.serialization.safe_globals([{name}])` context manager to allowlist this global if you trust "
                "this class/function."
            )

    unpickler = WeightsUnpickler(file, **options)
    unpickler.persistent_load = persistent_load  # type: ignore[method-assign]
    return unpickler


class _Placeholder:
    """Stands for anything while the names in a file are listed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        pass

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def append(self, value: Any) -> None:
        """Swallow an element."""

    extend = append
