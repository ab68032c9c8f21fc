"""Utilities beside tensors: hook handles in this package, datasets and loaders in :mod:`reftorch.utils.data`.

Mirrors: torch/utils/__init__.py
Leaves out: C++ extensions, the bottleneck profiler and the device context.
"""

from reftorch.utils import deterministic
from reftorch.utils.hooks import RemovableHandle

__all__ = ["RemovableHandle", "deterministic"]
