"""Tensors made from the data of other libraries.

Mirrors: torch/csrc/utils/tensor_new.cpp, torch/csrc/autograd/python_torch_functions_manual.cpp (range)
"""

from __future__ import annotations

from typing import Any

from reftorch import _C, _utils
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.storage import UntypedStorage
from reftorch.utils._device import device_or_default
from reftorch.utils.dlpack import from_dlpack

__all__ = ["as_tensor", "asarray", "from_file", "frombuffer", "range"]


def as_tensor(data: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return ``data`` as a tensor, and share its memory where that is possible.

    A tensor of the right dtype and device is returned unchanged, with its history. The tensor made from a numpy array
    uses the memory of the array. All other data is copied.

    Args:
        data: tensor, array, number or nested sequence of numbers.
        dtype: the dtype of the result; inferred from ``data`` by default.
        device: the device of the result.

    Example:
        >>> import numpy as np
        >>> array = np.zeros(3)
        >>> torch.as_tensor(array)[0] = 1
        >>> array
        array([1., 0., 0.])

    Mirrors torch/csrc/utils/tensor_new.cpp, ``as_tensor``.
    """
    device = device_or_default(device)
    if isinstance(data, Tensor):
        result = data
    elif type(data).__module__ == "numpy" and type(data).__name__ == "ndarray":
        result = _C.from_numpy(data)
    elif hasattr(data, "__dlpack__"):
        result = from_dlpack(data)
    else:
        return _C.tensor(data, dtype=dtype, device=device)
    return result.to(device=device, dtype=dtype if dtype is not None else result.dtype)


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool | None = None
) -> Tensor:
    """Return ``obj`` as a tensor, and share its memory where that is possible and allowed.

    Args:
        obj: tensor, array, object with the buffer protocol, number or nested sequence of numbers.
        dtype: the dtype of the result; the dtype of ``obj`` by default. The bytes of a buffer are read as this dtype.
        device: the device of the result.
        copy: True always copies, False never copies, None copies only where the memory cannot be shared.
        requires_grad: whether the result requires a gradient; by default it does if ``obj`` does.

    Raises:
        ValueError: ``copy`` is False and the memory cannot be shared.

    Example:
        >>> import numpy as np
        >>> array = np.zeros(3)
        >>> torch.asarray(array)[0] = 1
        >>> array
        array([1., 0., 0.])
        >>> torch.asarray(array, dtype=torch.float32, copy=False)
        Traceback (most recent call last):
            ...
        ValueError: can't alias tensor with dtype 'Double' into dtype 'Float'.

    Mirrors torch/csrc/utils/tensor_new.cpp, ``asarray``.
    """
    device = device_or_default(device)
    source = _on_memory_of(obj, dtype)
    if source is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return _C.tensor(obj, dtype=dtype, device=device, requires_grad=bool(requires_grad))
    wanted = source.dtype if dtype is None else dtype
    place = source.device if device is None else _C.device(device)
    if requires_grad and not wanted.is_floating_point:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    if copy is False and place != source.device:
        raise ValueError(f"can't alias tensor from device '{source.device}' to '{place}'.")
    if copy is False and wanted != source.dtype:
        have, want = _utils.scalar_type_name(source.dtype), _utils.scalar_type_name(wanted)
        raise ValueError(f"can't alias tensor with dtype '{have}' into dtype '{want}'.")
    result = source.to(device=place, dtype=wanted, copy=bool(copy))
    if requires_grad is False and result.requires_grad:
        return result.detach()
    return result.requires_grad_() if requires_grad else result


def _on_memory_of(obj: Any, dtype: Any) -> Tensor | None:
    """Return ``obj`` as a tensor that shares its memory, or None if ``obj`` has no memory to share."""
    if isinstance(obj, Tensor):
        return obj
    if type(obj).__module__ == "numpy":
        return _C.from_numpy(obj) if type(obj).__name__ == "ndarray" else None
    if hasattr(obj, "__dlpack__"):
        return from_dlpack(obj)
    try:
        memoryview(obj)
    except TypeError:
        return None
    return frombuffer(obj, dtype=_C.get_default_dtype() if dtype is None else dtype)


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """Return a one-dimensional tensor on the memory of an object with Python's buffer protocol.

    Args:
        buffer: an object such as a bytearray or an array.array. The tensor keeps the object alive.
        dtype: the dtype as which the bytes are read.
        count: the number of elements; a negative number means all elements that the buffer holds.
        offset: the number of bytes to skip at the start.
        requires_grad: whether the result requires a gradient.

    Raises:
        ValueError: there are too few bytes, or their number is not a multiple of the size of an element.

    Example:
        >>> data = bytearray(b"\\x01\\x00\\x02\\x00")
        >>> torch.frombuffer(data, dtype=torch.int16)
        tensor([1, 2], dtype=torch.int16)

    Mirrors torch/csrc/utils/tensor_new.cpp, ``tensor_frombuffer``.
    """
    if requires_grad and not dtype.is_floating_point:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    result = _C._frombuffer(buffer, dtype, count, offset)
    return result.requires_grad_() if requires_grad else result


def from_file(
    filename: str,
    shared: bool | None = None,
    size: int = 0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a one-dimensional tensor on the memory of a file.

    Args:
        filename: the path.
        shared: whether changes of the tensor are written to the file, which is made, or made longer, if necessary.
        size: the number of elements.
        dtype: the dtype as which the bytes are read; the default dtype if None.
        layout, pin_memory: None or the defaults.
        device: the CPU.
        requires_grad: whether the result requires a gradient.

    Raises:
        RuntimeError: the file cannot be opened or is too short, or the device is not the CPU.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "numbers")
        >>> torch.from_file(path, shared=True, size=2).fill_(3)
        tensor([3., 3.])
        >>> torch.from_file(path, size=2)
        tensor([3., 3.])

    Mirrors aten/src/ATen/native/TensorFactories.cpp, ``from_file``.
    """
    if device_or_default(device) is not None and _C.device(device_or_default(device)).type != "cpu":
        raise RuntimeError(f"from_file: expected the device cpu, got {device_or_default(device)}")
    dtype = _C.get_default_dtype() if dtype is None else dtype
    if size <= 0:
        return _C._VariableFunctions.empty(0, dtype=dtype, device="cpu", requires_grad=requires_grad)
    storage = UntypedStorage.from_file(filename, bool(shared), size * dtype.itemsize)
    result = storage._bytes().view(dtype)
    return result.requires_grad_() if requires_grad else result


def range(*args: Any, **kwargs: Any) -> Tensor:
    """Return the numbers from ``start`` to ``end``, both included, in steps of ``step``; use :func:`arange` instead.

    Args:
        args: ``start=0``, ``end`` and ``step=1``.
        kwargs: ``dtype``, ``device``, ``requires_grad`` and ``out``.

    Raises:
        RuntimeError: ``step`` is zero or leads away from ``end``.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     torch.range(1, 2, 0.5)
        tensor([1.0000, 1.5000, 2.0000])

    Mirrors aten/src/ATen/native/RangeFactories.cpp, ``range``.
    """
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        UserWarning,
    )
    return _C._VariableFunctions.range(*args, **kwargs)
