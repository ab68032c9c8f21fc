"""The name that a tensor with a graph had before tensors had one.

Mirrors: torch/autograd/variable.py
Leaves out: nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch._warnings import warn

__all__ = ["Variable", "VariableMeta"]


class _ImperativeEngine:
    """What old programs ask of the engine itself.

    Mirrors torch/csrc/autograd/python_engine.cpp, ``_ImperativeEngine``.
    """

    @staticmethod
    def queue_callback(callback: Callable[[], None]) -> None:
        """Call ``callback`` when the pass that is under way is done."""
        _C._queue_callback(callback)

    @staticmethod
    def is_checkpoint_valid() -> bool:
        """Whether the pass goes to all leaves, as ``backward()`` without ``inputs`` does."""
        return bool(_C._is_checkpoint_valid())


class VariableMeta(type):
    """Makes every tensor an instance of :class:`Variable`."""

    def __instancecheck__(cls, other: object) -> bool:
        return isinstance(other, _C.TensorBase)


class Variable(metaclass=VariableMeta):
    """Old programs wrap tensors in it: the result is a tensor of the same storage, a leaf.

    Args:
        data: the tensor.
        requires_grad: whether ops on the result are recorded.
        volatile: has no effect any more, and a warning says so.

    Raises:
        TypeError: ``data`` is no tensor.

    Example:
        >>> import reftorch as torch
        >>> x = torch.autograd.Variable(torch.ones(2), requires_grad=True)
        >>> isinstance(x, torch.autograd.Variable), x
        (True, tensor([1., 1.], requires_grad=True))

    Mirrors torch/autograd/variable.py, ``Variable``.
    """

    _execution_engine = _ImperativeEngine()

    def __new__(cls, data: Any, requires_grad: bool = False, volatile: Any = None) -> Any:
        if not isinstance(data, _C.TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        if volatile is not None:
            warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
        return data.detach().requires_grad_(requires_grad)
