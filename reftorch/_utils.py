"""Small helpers that several parts of the package share.

Mirrors: torch/_utils.py, and ``typename`` and ``set_warn_always`` of torch/__init__.py
Leaves out: what rebuilds tensors and storages from a file, and the wrapper that carries an exception between processes.
"""

from __future__ import annotations

import warnings
from typing import Any

__all__ = ["is_warn_always_enabled", "set_warn_always", "typename"]

_TENSOR_NAMES = {
    "float64": "Double",
    "float32": "Float",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "int64": "Long",
    "int32": "Int",
    "int16": "Short",
    "int8": "Char",
    "uint8": "Byte",
    "bool": "Bool",
}


def typename(obj: Any, /) -> str:
    """Return the name by which an error message calls the type of ``obj``.

    Args:
        obj: anything; a class or a function stands for itself, anything else for its type.

    Example:
        >>> import reftorch as torch
        >>> torch.typename(torch.ones(2)), torch.typename([1]), torch.typename(torch.nn.Linear)
        ('torch.FloatTensor', 'list', 'reftorch.nn.modules.linear.Linear')

    Mirrors torch/__init__.py, ``typename``.
    """
    cls = type(obj)
    dtype = str(getattr(obj, "dtype", "")).rpartition(".")[2]
    if dtype in _TENSOR_NAMES and any(base.__name__ == "Tensor" for base in cls.__mro__):
        return f"torch.{_TENSOR_NAMES[dtype]}Tensor"
    named = obj if hasattr(obj, "__qualname__") else cls
    module = getattr(named, "__module__", None)
    return named.__qualname__ if module in (None, "", "builtins") else f"{module}.{named.__qualname__}"


_warn_always = False
_warned: set[str] = set()


def set_warn_always(b: bool, /) -> None:
    """Say whether warnings that appear once in a program appear each time.

    Args:
        b: whether they do.

    Example:
        >>> import reftorch as torch
        >>> torch.set_warn_always(True)
        >>> torch.is_warn_always_enabled()
        True
        >>> torch.set_warn_always(False)

    Mirrors torch/__init__.py, ``set_warn_always``.
    """
    global _warn_always
    _warn_always = b


def is_warn_always_enabled() -> bool:
    """Return what :func:`set_warn_always` has set.

    Mirrors torch/__init__.py, ``is_warn_always_enabled``.
    """
    return _warn_always


def _warn_once(message: str, category: type[Warning] = UserWarning, stacklevel: int = 2) -> None:
    """``warnings.warn``, but once in a program for each text, whoever calls."""
    if not _warn_always:
        if message in _warned:
            return
        _warned.add(message)
    warnings.warn(message, category, stacklevel=stacklevel + 1)


class ArrayInterface:
    """What numpy needs to see a tensor's memory as an array; it becomes the array's base and keeps the tensor alive."""

    def __init__(
        self, tensor: Any, address: int, shape: tuple[int, ...], strides: tuple[int, ...], typestr: str
    ) -> None:
        self.tensor = tensor
        self.__array_interface__ = {
            "version": 3,
            # An empty tensor has no memory, and numpy 2.2 refuses a null pointer; nothing is read there.
            "data": (address or 64, False),
            "shape": shape,
            "strides": strides,
            "typestr": typestr,
        }
