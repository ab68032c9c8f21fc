"""A switch: whether deterministic mode fills uninitialized memory.

``torch.utils.deterministic.fill_uninitialized_memory`` is True by default. It has an effect only while
:func:`reftorch.use_deterministic_algorithms` is on.

Mirrors: torch/utils/deterministic.py
"""

import sys
import types

from reftorch import _C


class _Deterministic(types.ModuleType):
    @property
    def fill_uninitialized_memory(self) -> bool:
        """Whether ``empty`` and ``resize_`` fill memory (NaN, largest integer) while deterministic mode is on."""
        return _C._get_deterministic_fill_uninitialized_memory()

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: bool) -> None:
        _C._set_deterministic_fill_uninitialized_memory(mode)


sys.modules[__name__].__class__ = _Deterministic
