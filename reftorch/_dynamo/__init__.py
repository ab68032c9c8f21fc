"""The questions that programs ask about PyTorch's tracer of bytecode. There is none here.

Mirrors: torch/_dynamo/__init__.py
Leaves out: the tracer.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from reftorch._api import getattr_of as _getattr_of
from reftorch.compiler import allow_in_graph, assume_constant_result, disable, is_compiling, list_backends, reset

__all__ = [
    "OptimizedModule",
    "allow_in_graph",
    "assume_constant_result",
    "config",
    "disable",
    "graph_break",
    "is_compiling",
    "list_backends",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "optimize",
    "reset",
]

__getattr__ = _getattr_of("reftorch._dynamo", ("eval_frame",))
config = SimpleNamespace()  # programs set its attributes; nobody reads them


class OptimizedModule:
    """The class of modules that were compiled. Nothing makes one here; libraries ask whether a module is one.

    Mirrors torch/_dynamo/eval_frame.py, ``OptimizedModule``.
    """


def optimize(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """Return a decorator that returns its argument.

    Mirrors torch/_dynamo/eval_frame.py, ``optimize``.
    """
    return lambda fn: fn


def graph_break(msg: str = "") -> None:
    """Do nothing: there is no graph to break.

    Mirrors torch/_dynamo/decorators.py, ``graph_break``.
    """


def mark_dynamic(t: Any, index: Any, **kwargs: Any) -> None:
    """Do nothing: the mark is for a compiler.

    Mirrors torch/_dynamo/decorators.py, ``mark_dynamic``.
    """


def maybe_mark_dynamic(t: Any, index: Any) -> None:
    """Do nothing: the mark is for a compiler.

    Mirrors torch/_dynamo/decorators.py, ``maybe_mark_dynamic``.
    """


def mark_static(t: Any, index: Any = None) -> None:
    """Do nothing: the mark is for a compiler.

    Mirrors torch/_dynamo/decorators.py, ``mark_static``.
    """


def mark_static_address(t: Any, guard: bool = False) -> None:
    """Do nothing: the mark is for a compiler.

    Mirrors torch/_dynamo/decorators.py, ``mark_static_address``.
    """
