"""Tensors without memory that pretend to be on a device. They exist by their names only.

Mirrors: torch/_subclasses/__init__.py
Leaves out: everything but the names; tensors on the device ``meta`` have shapes and no memory.
"""

from reftorch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

__all__ = ["FakeTensor", "FakeTensorMode"]
