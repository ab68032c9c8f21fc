"""Whether the compiler Triton can be used.

Mirrors: torch/utils/_triton.py
Leaves out: the questions which parts of Triton there are.
"""

from __future__ import annotations

import importlib.util

__all__ = ["has_triton", "has_triton_package"]


def has_triton_package() -> bool:
    """Return whether the package ``triton`` is installed. The package is not imported."""
    return importlib.util.find_spec("triton") is not None


def has_triton() -> bool:
    """Return False: nothing here is compiled with Triton.

    Example:
        >>> from reftorch.utils._triton import has_triton
        >>> has_triton()
        False

    Mirrors torch/utils/_triton.py, ``has_triton``.
    """
    return False
