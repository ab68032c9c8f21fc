"""What a program asks before it uses an accelerator, where there is none.

Mirrors: test/test_accelerator.py
Leaves out: accelerators.
"""

from types import ModuleType

import pytest

import reftorch


def test_there_is_none(real_torch_or_none: ModuleType | None) -> None:
    for library in filter(None, (reftorch, real_torch_or_none)):
        there = library.accelerator
        if library is not reftorch and there.is_available():
            continue
        assert not there.is_available() and there.device_count() == 0 and there.current_accelerator() is None
        for call in (there.synchronize, there.Graph):
            with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
                call()
