"""Functions in Python that old programs call by name.

Mirrors: torch/autograd/_functions/__init__.py
"""

from reftorch.autograd._functions.tensor import Resize

__all__ = ["Resize"]
