"""Utilities beside tensors: hook handles in this package, datasets and loaders in :mod:`reftorch.utils.data`.

Mirrors: torch/utils/__init__.py
Leaves out: C++ extensions, the bottleneck profiler and the device context.
"""

from typing import TYPE_CHECKING, Any

from reftorch._api import getattr_of as _getattr_of
from reftorch.utils import deterministic
from reftorch.utils.hooks import RemovableHandle

__all__ = ["RemovableHandle", "data", "deterministic"]

if TYPE_CHECKING:
    from reftorch.utils import data
else:  # type checkers would accept any name if they saw this function
    _missing_name = _getattr_of("reftorch.utils")

    def __getattr__(name: str) -> Any:
        """Import ``data`` at its first use, because most programs load no data with it."""
        if name == "data":
            import importlib

            return importlib.import_module("reftorch.utils.data")
        return _missing_name(name)


def __dir__() -> list[str]:
    return [*globals(), "data"]
