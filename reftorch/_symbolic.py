"""Numbers that a tracer does not know yet. They exist by their names only: a program asks whether a size is one.

Mirrors: torch/__init__.py
Leaves out: everything but the names; a size here is an int.
"""

from __future__ import annotations

from typing import Any

__all__ = ["SymBool", "SymFloat", "SymInt"]

_WHY = "symbolic shapes do not exist here; a size is an int"


class SymInt:
    """The class of integers that a tracer does not know yet. Nothing makes one here.

    Raises:
        NotImplementedError: always, when one is made.

    Example:
        >>> isinstance(torch.ones(2, 3).size(0), torch.SymInt)
        False

    Mirrors torch/__init__.py, ``SymInt``.
    """

    def __init__(self, node: Any) -> None:
        raise NotImplementedError(f"SymInt: {_WHY}")


class SymFloat:
    """The class of floats that a tracer does not know yet. Nothing makes one here.

    Raises:
        NotImplementedError: always, when one is made.

    Mirrors torch/__init__.py, ``SymFloat``.
    """

    def __init__(self, node: Any) -> None:
        raise NotImplementedError(f"SymFloat: {_WHY}")


class SymBool:
    """The class of truth values that a tracer does not know yet. Nothing makes one here.

    Raises:
        NotImplementedError: always, when one is made.

    Mirrors torch/__init__.py, ``SymBool``.
    """

    def __init__(self, node: Any) -> None:
        raise NotImplementedError(f"SymBool: {_WHY}")
