"""``trace``, switched off.

Mirrors: torch/jit/_trace.py
Leaves out: the tracer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reftorch.nn import Module

__all__ = ["TracerWarning", "is_tracing", "trace", "trace_module"]


class TracerWarning(Warning):
    """The class of the tracer's warnings, which a program may filter. Nothing here warns with it.

    Mirrors torch/jit/_trace.py, ``TracerWarning``.
    """


def trace(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Return the function or module ``func`` itself; the example inputs are not used.

    Mirrors torch/jit/_trace.py, ``trace``, as it is with ``PYTORCH_JIT=0``.
    """
    return func


def trace_module(mod: Module, *args: Any, **kwargs: Any) -> Module:
    """Return the module ``mod`` itself; the example inputs are not used.

    Mirrors torch/jit/_trace.py, ``trace_module``, as it is with ``PYTORCH_JIT=0``.
    """
    return mod


def is_tracing() -> bool:
    """Return False: nothing traces.

    Mirrors torch/jit/_trace.py, ``is_tracing``.
    """
    return False
