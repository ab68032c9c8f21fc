"""Functions that make and compare tensors in tests.

Mirrors: torch/testing/__init__.py
Leaves out: ``FileCheck``, which reads the graphs of the compiler.
"""

from reftorch.testing._comparison import assert_allclose, assert_close
from reftorch.testing._creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
