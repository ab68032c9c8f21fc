"""Small helpers that several parts of the package share.

Mirrors: torch/_utils.py, and ``typename`` and ``set_warn_always`` of torch/__init__.py
Leaves out: the wrapper that carries an exception between processes.
"""

from __future__ import annotations

import copyreg
from collections.abc import Iterable
from types import FunctionType
from typing import Any

from reftorch import _C
from reftorch._warnings import warn

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


def scalar_type_name(dtype: Any) -> str:
    """What C++ calls a dtype: ``Float``, ``Long``."""
    return _TENSOR_NAMES[str(dtype).removeprefix("torch.")]


def not_implemented(kernel: str, input: Any) -> NotImplementedError:
    """The error of a kernel that has no code for the dtype of ``input``."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type_name(input.dtype)}'")


def refuse_integers(input: Any, kernel: str) -> None:
    """A formula would promote integers; PyTorch's kernel, whose name its error says, takes none."""
    if not input.is_floating_point():
        raise not_implemented(kernel, input)


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


def adopt(module: str, names: Iterable[str], namespace: dict[str, Any]) -> None:
    """Make the functions and classes ``names`` of ``namespace`` members of ``module``, whichever file defines them.

    A package that collects them from several files calls this, so that error messages, pickles and traced programs use
    PyTorch's names: ``torch.nn.functional.relu`` and not the name of the file in which ``relu`` stands.
    """
    for name in names:
        if isinstance(namespace[name], FunctionType | type):
            namespace[name].__module__ = module


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


def _warn_once(message: str, category: type[Warning] = UserWarning) -> None:
    """``warnings.warn``, but once in a program for each text, whoever calls."""
    if not _warn_always:
        if message in _warned:
            return
        _warned.add(message)
    warn(message, category)


# --- what pickled tensors name; the names and arguments are those of PyTorch's files ----------------------------------


def _rebuild_tensor(storage: Any, storage_offset: int, size: Any, stride: Any) -> Any:
    empty: Any = _C._VariableFunctions.empty(0, dtype=storage.dtype)
    return empty.set_(storage, storage_offset, size, stride)


def _rebuild_tensor_v2(
    storage: Any,
    storage_offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    backward_hooks: Any,
    metadata: Any = None,
) -> Any:
    tensor = _rebuild_tensor(storage, storage_offset, size, stride)
    tensor.requires_grad = requires_grad
    if backward_hooks:  # of files from long ago; today's hold none
        tensor._backward_hooks = backward_hooks
    return tensor


def _rebuild_meta_tensor_no_storage(dtype: Any, size: Any, stride: Any, requires_grad: bool) -> Any:
    tensor: Any = _C._VariableFunctions.empty_strided(size, stride, dtype=dtype, device="meta")
    return tensor.requires_grad_(requires_grad)


def _get_obj_state(obj: Any) -> Any:
    """The attributes of an object, as ``object.__getstate__`` gives them from Python 3.11 on."""
    if hasattr(obj, "__getstate__"):
        return obj.__getstate__()
    slots = copyreg._slotnames(type(obj))  # type: ignore[attr-defined]
    if not slots:
        return obj.__dict__
    return obj.__dict__, {name: getattr(obj, name) for name in slots if hasattr(obj, name)}


def _set_obj_state(obj: Any, state: Any) -> Any:
    if isinstance(state, tuple) and len(state) != 2:
        raise RuntimeError(f"Invalid serialized state: {state}")
    for attributes in state if isinstance(state, tuple) else (state,):
        for name, value in (attributes or {}).items():
            setattr(obj, name, value)
    return obj
