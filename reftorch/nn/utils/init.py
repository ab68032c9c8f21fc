"""Modules whose parameters are not drawn.

Mirrors: torch/nn/utils/init.py
"""

from __future__ import annotations

import inspect
from typing import Any

from reftorch.nn.modules.module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: type, *args: Any, **kwargs: Any) -> Module:
    """Make a module without drawing its parameters, which then have any values.

    The module is made on the meta device, where drawing costs nothing, and then gets memory.

    Args:
        module_cls: the class, whose constructor must take ``device``.
        args, kwargs: the arguments of the constructor.

    Raises:
        RuntimeError: ``module_cls`` is not a class of modules, or its constructor does not take ``device``.

    Example:
        >>> torch.nn.utils.skip_init(torch.nn.Linear, 5, 1)
        Linear(in_features=5, out_features=1, bias=True)

    Mirrors torch/nn/utils/init.py, ``skip_init``.
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    final_device = kwargs.pop("device", "cpu")
    kwargs["device"] = "meta"
    return module_cls(*args, **kwargs).to_empty(device=final_device)
