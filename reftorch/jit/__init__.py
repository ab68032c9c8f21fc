"""TorchScript, switched off: functions and modules stay Python.

PyTorch does the same with the environment variable ``PYTORCH_JIT=0``: ``script`` and ``trace`` return what they get,
and a program computes what it would compute compiled. Libraries that decorate a function by ``torch.jit.script``
therefore run unchanged.

Mirrors: torch/jit/__init__.py, torch/jit/_script.py, torch/jit/_trace.py, torch/jit/_async.py, torch/_jit_internal.py
Leaves out: the compiler and its files (``save``, ``load``): TorchScript is not planned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from reftorch import _api
from reftorch.nn import Module

__all__ = [
    "Final",
    "ScriptModule",
    "TracerWarning",
    "annotate",
    "export",
    "ignore",
    "is_scripting",
    "is_tracing",
    "script",
    "script_if_tracing",
    "script_method",
    "trace",
    "trace_module",
    "unused",
]

__getattr__ = _api.getattr_of(__name__)


class ScriptModule(Module):
    """A module that was compiled. Nothing makes one here; libraries ask whether a module is one.

    Mirrors torch/jit/_script.py, ``ScriptModule``, as it is with ``PYTORCH_JIT=0``.
    """


class TracerWarning(Warning):
    """The class of the tracer's warnings, which a program may filter. Nothing here warns with it.

    Mirrors torch/jit/_trace.py, ``TracerWarning``.
    """


def script(
    obj: Any,
    optimize: Any = None,
    _frames_up: int = 0,
    _rcb: Any = None,
    example_inputs: Any = None,
) -> Any:
    """Return the function, class or module ``obj`` itself.

    Example:
        >>> import reftorch as torch
        >>> @torch.jit.script
        ... def double(x):
        ...     return x * 2
        >>> double(torch.ones(2))
        tensor([2., 2.])

    Mirrors torch/jit/_script.py, ``script``, as it is with ``PYTORCH_JIT=0``.
    """
    return obj


def script_method(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method ``fn`` itself.

    Mirrors torch/jit/_script.py, ``script_method``, as it is with ``PYTORCH_JIT=0``.
    """
    return fn


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function ``fn`` itself: nothing traces.

    Mirrors torch/jit/_trace.py, ``script_if_tracing``.
    """
    return fn


_script_if_tracing = script_if_tracing


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


def is_scripting() -> bool:
    """Return False: the code that asks is not compiled.

    Mirrors torch/_jit_internal.py, ``is_scripting``.
    """
    return False


def is_tracing() -> bool:
    """Return False: nothing traces.

    Mirrors torch/jit/_trace.py, ``is_tracing``.
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


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return ``the_value``; ``the_type`` would tell the compiler what Python does not.

    Mirrors torch/jit/__init__.py, ``annotate``.
    """
    return the_value
