"""``torch.FloatTensor`` and its kin: constructors and classes of one dtype, as programs of before 2018 call them.

Mirrors: torch/csrc/tensor/python_tensor.cpp, torch/csrc/utils/tensor_new.cpp (legacy_tensor_ctor, legacy_tensor_new)
Leaves out: types of other devices and layouts.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._tensor import Tensor
from reftorch._utils import _TENSOR_NAMES

__all__ = ["LEGACY_TENSOR_TYPES", "set_default_tensor_type"]


class tensortype(type):
    """The class of ``torch.FloatTensor``: an instance of it is any tensor of that dtype, and calling it makes one."""

    dtype: Any

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype == cls.dtype

    def __call__(cls, *args: Any, device: Any = None) -> Any:
        if device is not None and _C.device(device).type != "cpu":
            raise RuntimeError(f"legacy constructor expects device type: cpu but device type: {device} was passed")
        return _legacy_new(cls.dtype, args)

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


def _legacy_new(dtype: Any, args: tuple[Any, ...]) -> Tensor:
    """A tensor of ``dtype``: of the shape that ints give, or of the elements of a sequence."""
    factory: Any = _C._VariableFunctions.empty
    if not args:
        return factory(0, dtype=dtype)
    [first, *others] = args
    if isinstance(first, Tensor) and not others:
        if first.dtype != dtype:
            raise TypeError(f"expected {dtype} (got {first.dtype}): a legacy constructor does not convert")
        return first.detach()
    if isinstance(first, _C.Size) and not others:
        return factory(first, dtype=dtype)
    if all(isinstance(each, int) for each in args):
        return factory(args, dtype=dtype)
    if others or not hasattr(first, "__len__") or isinstance(first, str):
        raise TypeError(f"new(): data must be a sequence (got {type(first).__name__})")
    return _C.tensor(first, dtype=dtype)


def _new(self: Tensor, *args: Any, device: Any = None) -> Tensor:
    """A tensor of this one's dtype, of a shape or of elements: the way of before ``new_empty`` and ``new_tensor``.

    Example:
        >>> import reftorch as torch
        >>> torch.ones(2).new([1, 2])
        tensor([1., 2.])
    """
    return _legacy_new(self.dtype, args)


def set_default_tensor_type(t: Any, /) -> None:
    """Set the default dtype to that of a type such as ``torch.DoubleTensor``, or of its name.

    Raises:
        TypeError: it is no type of floating-point numbers.

    Example:
        >>> import reftorch as torch
        >>> torch.set_default_tensor_type("torch.DoubleTensor")
        >>> torch.tensor(1.5).dtype
        torch.float64
        >>> torch.set_default_tensor_type(torch.FloatTensor)

    Mirrors torch/__init__.py, ``set_default_tensor_type``.
    """
    kind = LEGACY_TENSOR_TYPES.get(t.rpartition(".")[2]) if isinstance(t, str) else t
    if not isinstance(kind, tensortype):
        raise TypeError(f"invalid type object: expected a type such as torch.FloatTensor, got {t!r}")
    _C._set_default_dtype(kind.dtype)


LEGACY_TENSOR_TYPES = {
    f"{name}Tensor": tensortype(f"{name}Tensor", (), {"dtype": getattr(_C, dtype), "__module__": "reftorch"})
    for dtype, name in _TENSOR_NAMES.items()
}
Tensor.new = _new  # type: ignore[attr-defined]
