"""Annotations of tensors by their shapes.

Mirrors: torch/fx/tensor_type.py
"""

from __future__ import annotations

from typing import Any

__all__ = ["Dyn", "TensorType", "is_consistent", "is_more_precise"]


class TensorType:
    """The type of tensors of one shape; a dimension may be :data:`Dyn`.

    Args:
        dim: tuple of the sizes.

    Example:
        >>> from reftorch.fx.tensor_type import Dyn, TensorType
        >>> TensorType((1, Dyn)), TensorType((1, 2)) == TensorType((1, 2))
        (TensorType[(1, Dyn)], True)

    Mirrors torch/fx/tensor_type.py, ``TensorType``.
    """

    def __init__(self, dim: Any) -> None:
        self.__origin__ = TensorType
        self.__args__ = dim

    def __repr__(self) -> str:
        return f"TensorType[{self.__args__}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and list(self.__args__) == list(other.__args__)

    def __hash__(self) -> int:
        return hash(tuple(self.__args__))

    @staticmethod
    def __class_getitem__(*args: Any) -> TensorType:
        return TensorType(args[0] if isinstance(args[0], tuple) else args)


class _DynType:
    """The type of values of which nothing is known."""

    __name__ = "_DynType"  # generated code names annotations

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _DynType)

    def __hash__(self) -> int:
        return hash(_DynType)

    def __str__(self) -> str:
        return "Dyn"

    __repr__ = __str__


Dyn = _DynType()


def _compare(t1: Any, t2: Any, element: Any) -> bool:
    return (
        isinstance(t1, TensorType)
        and isinstance(t2, TensorType)
        and len(t1.__args__) == len(t2.__args__)
        and all(element(a, b) for a, b in zip(t1.__args__, t2.__args__, strict=True))
    )


def is_consistent(t1: Any, t2: Any) -> bool:
    """Return whether two types agree wherever both are known.

    Example:
        >>> from reftorch.fx.tensor_type import Dyn, TensorType, is_consistent
        >>> is_consistent(TensorType((1, Dyn)), TensorType((1, 2))), is_consistent(1, 2)
        (True, False)

    Mirrors torch/fx/tensor_type.py, ``is_consistent``.
    """
    return t1 == t2 or Dyn in (t1, t2) or _compare(t1, t2, is_consistent)


def is_more_precise(t1: Any, t2: Any) -> bool:
    """Return whether the first type is known wherever the second is, and agrees with the second there.

    Example:
        >>> from reftorch.fx.tensor_type import Dyn, TensorType, is_more_precise
        >>> is_more_precise(TensorType((1, 2)), TensorType((1, Dyn))), is_more_precise(Dyn, 1)
        (True, False)

    Mirrors torch/fx/tensor_type.py, ``is_more_precise``.
    """
    return t1 == t2 or isinstance(t2, _DynType) or _compare(t1, t2, is_more_precise)
