"""Autocast for functions that are ops in PyTorch and are made of other ops here.

Mirrors: aten/src/ATen/autocast_mode.cpp (the entry of scaled_dot_product_attention)
Leaves out: the cache of weights, since these functions get none.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from reftorch import _C
from reftorch.amp.autocast_mode import _cast, autocast

__all__ = ["lower_precision_fp"]

_F = TypeVar("_F", bound=Callable[..., Any])


def _casting(function: _F, dtype_of_mode: Callable[[], Any]) -> _F:
    @functools.wraps(function)
    def inside_or_outside(*args: Any, **kwargs: Any) -> Any:
        if not _C._is_autocast_enabled("cpu"):
            return function(*args, **kwargs)
        dtype = dtype_of_mode()
        with autocast("cpu", enabled=False):
            return function(*_cast(args, "cpu", dtype), **_cast(kwargs, "cpu", dtype))

    return inside_or_outside  # type: ignore[return-value]


def lower_precision_fp(function: _F) -> _F:
    """Make a function cast its tensors to the 16-bit dtype inside autocast."""
    return _casting(function, lambda: _C._get_autocast_dtype("cpu"))
