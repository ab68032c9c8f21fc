"""Making and comparing tensors in tests.

Mirrors: torch/testing/__init__.py
Leaves out: assert_allclose, which torch has deprecated; FileCheck, which reads the compiler's graphs.
"""

from reftorch.testing._comparison import assert_close
from reftorch.testing._creation import make_tensor

__all__ = ["assert_close", "make_tensor"]
