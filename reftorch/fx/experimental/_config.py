"""Switches of symbolic shapes and of the profiler's texts about graphs; they change nothing here.

Mirrors: torch/fx/experimental/_config.py
Leaves out: the switches of parts that do not exist here, and reading the switches from the environment.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

__all__ = ["enrich_profiler_metadata", "patch", "print_data_dependent_errors", "use_duck_shape"]

enrich_profiler_metadata = False
print_data_dependent_errors = False
use_duck_shape = True


@contextlib.contextmanager
def patch(name: str | dict[str, Any], value: Any = None, **more: Any) -> Iterator[None]:
    """Return a context, which is a decorator, too, in which switches have other values.

    Args:
        name: the name of a switch, or a dict of names and values.
        value: the value.
        more: further names and values.

    Raises:
        AttributeError: there is no such switch.

    Example:
        >>> from reftorch.fx.experimental import _config
        >>> with _config.patch("use_duck_shape", False):
        ...     print(_config.use_duck_shape)
        False

    Mirrors torch/utils/_config_module.py, ``ConfigModule.patch``.
    """
    module = sys.modules[__name__]
    changes = {**(name if isinstance(name, dict) else {name: value}), **more}
    former = {key: getattr(module, key) for key in changes}
    try:
        for key, new in changes.items():
            setattr(module, key, new)
        yield
    finally:
        for key, old in former.items():
            setattr(module, key, old)
