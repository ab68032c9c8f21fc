"""The question whether a tensor only pretends to have memory, and the names of the classes.

Mirrors: torch/_subclasses/fake_tensor.py
Leaves out: everything but the question and the names.
"""

from __future__ import annotations

from typing import Any

from reftorch._tensor import Tensor

__all__ = ["FakeTensor", "FakeTensorMode", "is_fake"]

_WHY = 'tensors that pretend to be on a device do not exist here. Hint: device="meta" has shapes and no memory'


class FakeTensor(Tensor):
    """The class of tensors that pretend to be on a device. Nothing makes one here.

    Raises:
        NotImplementedError: always, when one is made.

    Mirrors torch/_subclasses/fake_tensor.py, ``FakeTensor``.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> FakeTensor:
        raise NotImplementedError(f"FakeTensor: {_WHY}")


class FakeTensorMode:
    """The scope in which PyTorch makes such tensors. Nothing makes one here.

    Raises:
        NotImplementedError: always, when one is made.

    Mirrors torch/_subclasses/fake_tensor.py, ``FakeTensorMode``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"FakeTensorMode: {_WHY}")


def is_fake(x: Any) -> bool:
    """Return False: no tensor pretends here.

    Example:
        >>> from reftorch._subclasses.fake_tensor import is_fake
        >>> is_fake(torch.ones(2))
        False

    Mirrors torch/_subclasses/fake_tensor.py, ``is_fake``.
    """
    return False
