"""The tensor types that are older than dtypes: ``torch.FloatTensor``, ``torch.LongTensor`` and the others.

No tensor is a Python instance of these types. Each type is a name for a dtype: it can be called, ``isinstance``
accepts it, and so does ``Tensor.type``.

Mirrors: torch/__init__.py (set_default_tensor_type), torch/csrc/tensor/python_tensor.cpp,
legacy_tensor_generic_ctor_new of torch/csrc/utils/tensor_new.cpp
Leaves out: the types of ``torch.sparse``; tensors from storages.
"""

from __future__ import annotations

import sys
from typing import Any

from reftorch import _C
from reftorch._utils import scalar_type_name
from reftorch._warnings import warn

__all__ = ["CUDA_TYPES", "TYPES", "legacy_new", "set_default_tensor_type", "tensortype", "type_named"]


def legacy_new(dtype: Any, own: Any, *args: Any, device: Any = None) -> Any:
    """A tensor of ``dtype``, as the old constructors make it: uninitialized from sizes, from data, or from a tensor.

    Args:
        dtype: the dtype.
        own: the device of the tensor, whatever the default device is.
        args: sizes, data or a tensor.
        device: a device that the caller names, which must be of the type of ``own``.

    Raises:
        TypeError: the argument is neither a sequence nor sizes, or is a tensor of another dtype.
        RuntimeError: ``device`` is of another type.
    """
    if device is not None and _C.device(device).type != own.type:
        raise RuntimeError(
            f"legacy constructor expects device type: {own.type} but device type: {_C.device(device)} was passed"
        )
    there: Any = own if device is None else _C.device(device)
    with there:
        return _legacy_new(dtype, *args)


def _legacy_new(dtype: Any, *args: Any) -> Any:
    if not args:
        return _C._VariableFunctions.empty(0, dtype=dtype)
    first = args[0]
    if len(args) == 1 and isinstance(first, _C.TensorBase):
        if first.dtype != dtype:
            raise TypeError(f"expected a tensor of {dtype}, but got one of {first.dtype}. Hint: use x.to({dtype}).")
        return _C._VariableFunctions.alias(args[0])
    if len(args) == 1 and isinstance(first, _C.Size):
        return _C._VariableFunctions.empty(first, dtype=dtype)
    if hasattr(first, "__index__") and not hasattr(first, "__len__"):
        return _C._VariableFunctions.empty(args, dtype=dtype)
    if isinstance(first, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(first).__name__}'")
    if len(args) != 1 or not hasattr(first, "__len__"):
        raise TypeError(f"new(): data must be a sequence (got {type(first).__name__}{_C._other_library_hint(first)})")
    return _C.tensor(first, dtype=dtype)


class tensortype(type):
    """The metaclass of the old tensor types."""

    dtype: Any
    layout = _C.strided
    is_cuda: bool
    is_sparse = False

    @property
    def device(cls) -> Any:
        """The device of the tensors that the type makes."""
        return _C.device("cuda" if cls.is_cuda else "cpu")

    def __call__(cls, *args: Any, device: Any = None) -> Any:
        if cls.is_cuda and not sys.modules["reftorch.cuda"].is_available():
            raise TypeError(f"type {cls} not available. Torch not compiled with CUDA enabled.")
        return legacy_new(cls.dtype, cls.device, *args, device=device)

    def __instancecheck__(cls, obj: Any) -> bool:
        return isinstance(obj, _C.TensorBase) and obj.dtype == cls.dtype and obj.is_cuda == cls.is_cuda

    def __str__(cls) -> str:
        return f"torch.cuda.{cls.__name__}" if cls.is_cuda else f"torch.{cls.__name__}"

    def __repr__(cls) -> str:
        return f"<class '{cls}'>"


def _type_of(dtype: Any, cuda: bool = False) -> Any:
    device, module = ("CUDA", "reftorch.cuda") if cuda else ("CPU", "reftorch")
    members = {
        "dtype": dtype,
        "is_cuda": cuda,
        "__doc__": f"The {device} tensors of dtype {dtype}, as programs older than dtypes name them.",
        "__module__": module,
    }
    return tensortype(f"{scalar_type_name(dtype)}Tensor", (), members)


BFloat16Tensor = _type_of(_C.bfloat16)
BoolTensor = _type_of(_C.bool)
ByteTensor = _type_of(_C.uint8)
CharTensor = _type_of(_C.int8)
DoubleTensor = _type_of(_C.float64)
FloatTensor = _type_of(_C.float32)
HalfTensor = _type_of(_C.float16)
IntTensor = _type_of(_C.int32)
LongTensor = _type_of(_C.int64)
ShortTensor = _type_of(_C.int16)

TYPES = {
    t.__name__: t
    for t in (
        BFloat16Tensor,
        BoolTensor,
        ByteTensor,
        CharTensor,
        DoubleTensor,
        FloatTensor,
        HalfTensor,
        IntTensor,
        LongTensor,
        ShortTensor,
    )
}

CUDA_TYPES = {name: _type_of(t.dtype, cuda=True) for name, t in TYPES.items()}


def type_named(name: str) -> Any:
    """Return the type of a name such as ``torch.FloatTensor`` or ``torch.cuda.FloatTensor``; None if there is none."""
    package, _, last = name.rpartition(".")
    types = {"torch": TYPES, "torch.cuda": CUDA_TYPES}.get(package, {})
    return types.get(last)


def set_default_tensor_type(t: Any, /) -> None:
    """Set the dtype of floating-point tensors for which none is given, by a tensor type. Deprecated, as in PyTorch.

    Args:
        t: a type such as ``torch.DoubleTensor``, or its name; :func:`set_default_dtype` takes a dtype.

    Raises:
        TypeError: the type is not a floating-point type, or no type has that name.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     torch.set_default_tensor_type(torch.DoubleTensor)
        ...     torch.tensor(1.5).dtype
        ...     torch.set_default_tensor_type("torch.FloatTensor")
        torch.float64

    Mirrors torch/__init__.py, ``set_default_tensor_type``.
    """
    warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives.",
    )
    found = type_named(t) if isinstance(t, str) else t
    if not isinstance(found, tensortype):
        raise TypeError(f"invalid type object: {t!r} names no tensor type")
    if not found.dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _C._set_default_dtype(found.dtype)
