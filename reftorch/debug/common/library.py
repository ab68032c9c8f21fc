"""The library that a model or a tensor belongs to: reftorch, or PyTorch if the program has imported it.

Mirrors: nothing in PyTorch, whose tools know one library.
Left out: other libraries than these two.
"""

from __future__ import annotations

import contextlib
import sys
from types import ModuleType
from typing import Any

from reftorch import _C


def ours() -> ModuleType:
    """Return reftorch itself."""
    return sys.modules["reftorch"]


def real_torch() -> Any:
    """Return PyTorch if the program has imported it, and None otherwise.

    Under ``python -m reftorch`` the name ``torch`` is reftorch, which is not PyTorch.
    """
    torch = sys.modules.get("torch")
    tensor = getattr(torch, "Tensor", None)
    return None if tensor is None or tensor is ours().Tensor or not hasattr(torch, "nn") else torch


def libraries() -> list[Any]:
    """Return reftorch, and PyTorch if the program has imported it."""
    torch = real_torch()
    return [ours()] if torch is None else [ours(), torch]


def library_of(value: Any) -> Any:
    """Return the library of a model or of a tensor; reftorch for any other value.

    Example:
        >>> from reftorch.debug.common.library import library_of
        >>> library_of(torch.nn.ReLU()) is torch
        True
    """
    torch = real_torch()
    return torch if torch is not None and isinstance(value, (torch.nn.Module, torch.Tensor)) else ours()


class no_grad(contextlib.ContextDecorator):
    """A block, or a function, in which neither library records a graph.

    Example:
        >>> from reftorch.debug.common.library import no_grad
        >>> with no_grad():
        ...     torch.is_grad_enabled()
        False
    """

    name = "no_grad"

    def __enter__(self) -> None:
        self._modes = contextlib.ExitStack()
        for library in libraries():
            self._modes.enter_context(getattr(library, self.name)())

    def __exit__(self, *exc_info: object) -> None:
        self._modes.close()

    def _recreate_cm(self) -> no_grad:
        return type(self)()


class enable_grad(no_grad):
    """A block in which both libraries record graphs."""

    name = "enable_grad"


def has_base(value: Any, name: str) -> bool:
    """Return whether a class of this name, of whichever library, is among the bases of the value's class."""
    return any(kind.__name__ == name for kind in type(value).__mro__)


def is_tensor(value: Any) -> bool:
    """Return whether the value is a tensor of reftorch or of PyTorch, without importing PyTorch.

    The type decides, because reading ``__class__`` of a foreign object may run code of that object.
    """
    if issubclass(type(value), _C.TensorBase):
        return True
    torch = real_torch()
    return torch is not None and issubclass(type(value), torch.Tensor)


def is_lazy(value: Any) -> bool:
    """Return whether the value is a parameter or a buffer of a lazy module that has no shape yet."""
    return any(isinstance(value, library.nn.parameter.UninitializedTensorMixin) for library in libraries())


def why_no_values(tensor: Any) -> str:
    """Return why the elements of a tensor cannot be read: it is lazy, or on meta; "" if they can be read."""
    if is_lazy(tensor):
        return "is not initialized yet, because its module is lazy"
    return "is on meta, where tensors have shapes and no values" if tensor.device.type == "meta" else ""
