"""Utilities beside tensors: hook handles in this package, datasets and loaders in :mod:`reftorch.utils.data`.

Mirrors: torch/utils/__init__.py
Leaves out: C++ extensions, the bottleneck profiler and the device context.
"""

from typing import TYPE_CHECKING

from reftorch._api import getattr_of as _getattr_of
from reftorch.utils import deterministic
from reftorch.utils.hooks import RemovableHandle

__all__ = ["RemovableHandle", "checkpoint", "data", "deterministic"]

if TYPE_CHECKING:
    from reftorch.utils import checkpoint, data
else:  # type checkers would accept any name if they saw this function
    __getattr__ = _getattr_of("reftorch.utils", ("checkpoint", "data"))


def __dir__() -> list[str]:
    return [*globals(), "checkpoint", "data"]
