"""Hooks on the registration of a parameter, buffer or submodule in any module.

Mirrors: torch/nn/modules/module.py, ``register_module_parameter_registration_hook`` and the two similar functions
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from reftorch.utils.hooks import RemovableHandle

__all__ = [
    "register_module_buffer_registration_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

Hooks = OrderedDict[int, Callable[..., Any]]

_global_buffer_registration_hooks: Hooks = OrderedDict()
_global_module_registration_hooks: Hooks = OrderedDict()
_global_parameter_registration_hooks: Hooks = OrderedDict()


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` before any module registers a buffer.

    Args:
        hook: returns None, or the buffer to register instead.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Example:
        >>> from reftorch.nn.modules.module import register_module_buffer_registration_hook
        >>> with register_module_buffer_registration_hook(lambda module, name, buffer: buffer.double()):
        ...     torch.nn.NLLLoss(weight=torch.ones(2)).weight.dtype
        torch.float64

    Mirrors torch/nn/modules/module.py, ``register_module_buffer_registration_hook``.
    """
    return _add(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` before any module registers a submodule.

    Args:
        hook: returns None, or the submodule to register instead.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Example:
        >>> from reftorch.nn.modules.module import register_module_module_registration_hook
        >>> with register_module_module_registration_hook(lambda module, name, submodule: print(name, submodule)):
        ...     _ = torch.nn.Sequential(torch.nn.ReLU())
        0 ReLU()

    Mirrors torch/nn/modules/module.py, ``register_module_module_registration_hook``.
    """
    return _add(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, param)`` before any module registers a parameter.

    Args:
        hook: returns None, or the parameter to register instead.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Example:
        >>> from reftorch.nn.modules.module import register_module_parameter_registration_hook
        >>> with register_module_parameter_registration_hook(lambda module, name, param: print(name)):
        ...     _ = torch.nn.Linear(2, 3)
        weight
        bias

    Mirrors torch/nn/modules/module.py, ``register_module_parameter_registration_hook``.
    """
    return _add(_global_parameter_registration_hooks, hook)


def _add(hooks: Hooks, hook: Callable[..., Any]) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def _run(hooks: Hooks, module: Any, name: str, value: Any) -> Any:
    """Run the hooks, and return the value to register."""
    for hook in hooks.values():
        changed = hook(module, name, value)
        if changed is not None:
            value = changed
    return value
