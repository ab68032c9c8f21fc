"""Decorators and questions of TorchScript, which is switched off, and the names that libraries import from here.

Mirrors: torch/_jit_internal.py
Leaves out: what the compiler needs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar
from typing import Dict as Dict  # noqa: UP035  libraries import these names from here
from typing import Final as Final
from typing import List as List  # noqa: UP035
from typing import Optional as Optional
from typing import Tuple as Tuple  # noqa: UP035
from typing import Union as Union

__all__ = ["boolean_dispatch", "export", "ignore", "is_scripting", "unused"]

_F = TypeVar("_F", bound=Callable[..., Any])


def is_scripting() -> bool:
    """Return False: the code that asks is not compiled.

    Mirrors torch/_jit_internal.py, ``is_scripting``.
    """
    return False


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Mark a function that the compiler should leave to Python. Here every function is left to Python.

    Mirrors torch/_jit_internal.py, ``ignore``.
    """
    return drop if callable(drop) else lambda fn: fn


def unused(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function that the compiler should replace by an error. Here it stays what it is.

    Mirrors torch/_jit_internal.py, ``unused``.
    """
    return fn


def export(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a method that the compiler should compile besides ``forward``. Here it stays what it is.

    Mirrors torch/_jit_internal.py, ``export``.
    """
    return fn


def boolean_dispatch(
    arg_name: str,
    arg_index: int,
    default: bool,
    if_true: Callable[..., Any],
    if_false: Callable[..., Any],
    module_name: str,
    func_name: str,
) -> Callable[..., Any]:
    """Return a function that calls ``if_true`` or ``if_false``, as one of its arguments says.

    Args:
        arg_name: the name of the argument that decides.
        arg_index: its position.
        default: its value if a call does not give it.
        if_true, if_false: the two functions, which get all arguments.
        module_name, func_name: names of the function that is returned, if not None.

    Mirrors torch/_jit_internal.py, ``boolean_dispatch``.
    """

    @functools.wraps(if_false)
    def fn(*args: Any, **kwargs: Any) -> Any:
        decides = args[arg_index] if arg_index < len(args) else kwargs.get(arg_name, default)
        return (if_true if decides else if_false)(*args, **kwargs)

    if module_name is not None:
        fn.__module__ = module_name
    if func_name is not None:
        fn.__name__ = func_name
    return fn


def _overload(func: _F) -> _F:
    """Return ``func``: it declares types for the compiler, and the definition that follows replaces it.

    Mirrors torch/_jit_internal.py, ``_overload``.
    """
    return func


def _overload_method(func: _F) -> _F:
    """Return ``func``: it declares types for the compiler, and the definition that follows replaces it.

    Mirrors torch/_jit_internal.py, ``_overload_method``.
    """
    return func


def _copy_to_script_wrapper(fn: _F) -> _F:
    """Return ``fn``: the mark is for the compiler.

    Mirrors torch/_jit_internal.py, ``_copy_to_script_wrapper``.
    """
    return fn


class _BroadcastingList:
    """Makes ``BroadcastingList2[int]``, an annotation for a number or a list of two, the type of a list."""

    def __getitem__(self, types: Any) -> Any:
        return list[types]


for _count in range(1, 7):
    globals()[f"BroadcastingList{_count}"] = _BroadcastingList()
