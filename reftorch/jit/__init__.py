"""TorchScript, switched off: functions and modules stay Python.

PyTorch does the same with the environment variable ``PYTORCH_JIT=0``: ``script`` and ``trace`` return what they get,
and a program computes what it would compute compiled. Libraries that decorate a function by ``torch.jit.script``
therefore run unchanged.

Mirrors: torch/jit/__init__.py
Leaves out: the compiler and its files: TorchScript is not planned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reftorch import _api
from reftorch._jit_internal import Final, export, ignore, is_scripting, unused
from reftorch._jit_internal import _overload as _overload
from reftorch._jit_internal import _overload_method as _overload_method
from reftorch.jit._freeze import freeze, optimize_for_inference
from reftorch.jit._script import RecursiveScriptModule, ScriptModule, script, script_method
from reftorch.jit._serialization import load, save
from reftorch.jit._trace import TracerWarning, is_tracing, trace, trace_module

__all__ = [
    "Final",
    "RecursiveScriptModule",
    "ScriptModule",
    "TracerWarning",
    "annotate",
    "export",
    "freeze",
    "ignore",
    "is_scripting",
    "is_tracing",
    "load",
    "optimize_for_inference",
    "save",
    "script",
    "script_if_tracing",
    "script_method",
    "trace",
    "trace_module",
    "unused",
]

__getattr__ = _api.getattr_of(__name__)


class _ScriptModule:
    """The class of compiled modules in C++, ``torch.ScriptModule``. Nothing makes one here.

    Mirrors torch/csrc/jit/python/script_init.cpp.
    """


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function ``fn`` itself: nothing traces.

    Mirrors torch/jit/_trace.py, ``script_if_tracing``.
    """
    return fn


_script_if_tracing = script_if_tracing


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return ``the_value``; ``the_type`` would tell the compiler what Python does not.

    Mirrors torch/jit/__init__.py, ``annotate``.
    """
    return the_value
