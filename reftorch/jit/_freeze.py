"""``freeze``, switched off.

Mirrors: torch/jit/_freeze.py
Leaves out: the compiler.
"""

from __future__ import annotations

from typing import Any

__all__ = ["freeze", "optimize_for_inference"]


def freeze(mod: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the module ``mod`` itself: nothing is compiled.

    Mirrors torch/jit/_freeze.py, ``freeze``.
    """
    return mod


def optimize_for_inference(mod: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the module ``mod`` itself: nothing is compiled.

    Mirrors torch/jit/_freeze.py, ``optimize_for_inference``.
    """
    return mod
