"""``script``, switched off, and the class of modules that were compiled.

Mirrors: torch/jit/_script.py
Leaves out: the compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reftorch.nn import Module

__all__ = ["RecursiveScriptModule", "ScriptModule", "script", "script_method"]


class ScriptModule(Module):
    """A module that was compiled. Nothing makes one here; libraries ask whether a module is one.

    Mirrors torch/jit/_script.py, ``ScriptModule``, as it is with ``PYTORCH_JIT=0``.
    """


class RecursiveScriptModule(ScriptModule):
    """The class of the modules that ``script`` makes in PyTorch. Nothing makes one here.

    Mirrors torch/jit/_script.py, ``RecursiveScriptModule``, as it is with ``PYTORCH_JIT=0``.
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
