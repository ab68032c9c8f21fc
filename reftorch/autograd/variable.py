"""``Variable``, the class that recorded a graph before tensors did.

Mirrors: torch/autograd/variable.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch._warnings import warn

__all__ = ["Variable", "VariableMeta"]


class _ImperativeEngine:
    """The methods of the engine that old programs call.

    Mirrors torch/csrc/autograd/python_engine.cpp, ``_ImperativeEngine``.
    """

    @staticmethod
    def queue_callback(callback: Callable[[], None]) -> None:
        """Call ``callback`` at the end of the backward pass that is running."""
        _C._queue_callback(callback)

    @staticmethod
    def is_checkpoint_valid() -> bool:
        """Return whether the pass reaches all leaves, as ``backward()`` without ``inputs`` does."""
        return bool(_C._is_checkpoint_valid())


class VariableMeta(type):
    """The metaclass of :class:`Variable`, which makes every tensor an instance of that class."""

    def __instancecheck__(cls, other: object) -> bool:
        return isinstance(other, _C.TensorBase)


class Variable(metaclass=VariableMeta):
    """Return a leaf that shares the storage of a tensor. Old programs wrap tensors with this class.

    Args:
        data: the tensor to wrap.
        requires_grad: whether ops on the result are recorded.
        volatile: has no effect any more, and issues a warning.

    Raises:
        TypeError: ``data`` is not a tensor.

    Example:
        >>> x = torch.autograd.Variable(torch.ones(2), requires_grad=True)
        >>> isinstance(x, torch.autograd.Variable), x
        (True, tensor([1., 1.], requires_grad=True))

    Mirrors torch/autograd/variable.py, ``Variable``.
    """

    _execution_engine = _ImperativeEngine()

    def __new__(cls, data: Any, requires_grad: bool = False, volatile: Any = None) -> Any:
        if not isinstance(data, _C.TensorBase):
            raise TypeError(
                f"Variable data has to be a tensor, but got {type(data).__name__}{_C._other_library_hint(data)}"
            )
        if volatile is not None:
            warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
        return data.detach().requires_grad_(requires_grad)
