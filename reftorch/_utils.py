"""Small helpers that several parts of the package share.

Mirrors: torch/_utils.py, and ``typename``, ``get_device_module`` and ``set_warn_always`` of torch/__init__.py
Leaves out: complex, quantized and sparse tensors.
"""

from __future__ import annotations

import copyreg
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any, NoReturn

from reftorch import _C, _VF
from reftorch._warnings import warn

__all__ = ["get_device_module", "is_warn_always_enabled", "set_warn_always", "typename"]

_TENSOR_NAMES = {
    "float64": "Double",
    "float32": "Float",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "int64": "Long",
    "int32": "Int",
    "int16": "Short",
    "int8": "Char",
    "uint8": "Byte",
    "bool": "Bool",
}


def scalar_type_name(dtype: Any) -> str:
    """Return the name of a dtype in C++: ``Float``, ``Long``."""
    return _TENSOR_NAMES[str(dtype).removeprefix("torch.")]


def not_implemented(kernel: str, input: Any) -> NotImplementedError:
    """Return the error of a kernel that has no code for the dtype of ``input``."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type_name(input.dtype)}'")


def refuse_integers(input: Any, kernel: str) -> None:
    """Raise the error of PyTorch's kernel, which takes no integers; a formula in Python would promote them instead."""
    if not input.is_floating_point():
        raise not_implemented(kernel, input)


def typename(obj: Any, /) -> str:
    """Return the name of an object's type, as error messages show it.

    Args:
        obj: any object; a class or a function stands for itself, any other object for its type.

    Example:
        >>> torch.typename(torch.ones(2)), torch.typename([1]), torch.typename(torch.nn.Linear)
        ('torch.FloatTensor', 'list', 'reftorch.nn.modules.linear.Linear')

    Mirrors torch/__init__.py, ``typename``.
    """
    cls = type(obj)
    dtype = str(getattr(obj, "dtype", "")).rpartition(".")[2]
    if dtype in _TENSOR_NAMES and any(base.__name__ == "Tensor" for base in cls.__mro__):
        package = "torch.cuda" if obj.is_cuda else "torch"
        return f"{package}.{_TENSOR_NAMES[dtype]}Tensor"
    named = obj if hasattr(obj, "__qualname__") else cls
    module = getattr(named, "__module__", None)
    return named.__qualname__ if module in (None, "", "builtins") else f"{module}.{named.__qualname__}"


_warn_always = False
_warned: set[str] = set()


def set_warn_always(b: bool, /) -> None:
    """Choose whether warnings that normally appear once per program appear each time.

    Args:
        b: whether they appear each time.

    Example:
        >>> torch.set_warn_always(True)
        >>> torch.is_warn_always_enabled()
        True
        >>> torch.set_warn_always(False)

    Mirrors torch/__init__.py, ``set_warn_always``.
    """
    global _warn_always
    _warn_always = b


def is_warn_always_enabled() -> bool:
    """Return the ``b`` of the last call of :func:`set_warn_always`.

    Mirrors torch/__init__.py, ``is_warn_always_enabled``.
    """
    return _warn_always


def _warn_once(message: str, category: type[Warning] = UserWarning) -> None:
    """Call ``warnings.warn`` once per program for each text, whichever line of the program causes it."""
    if not _warn_always:
        if message in _warned:
            return
        _warned.add(message)
    warn(message, category)


# --- many tensors as few, for what costs a message or a copy each -----------------------------------------------------


def _flatten_dense_tensors(tensors: Sequence[Any]) -> Any:
    """Return the elements of all tensors, which have one dtype and one device, as one tensor of one dimension.

    Mirrors torch/_utils.py, ``_flatten_dense_tensors``.
    """
    return _VF.cat([t.reshape(-1) for t in tensors])


def _unflatten_dense_tensors(flat: Any, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """Return views of ``flat`` with the shapes of ``tensors``: the inverse of :func:`_flatten_dense_tensors`.

    Mirrors torch/_utils.py, ``_unflatten_dense_tensors``.
    """
    pieces = flat.split([t.numel() for t in tensors])
    return tuple(piece.view(t.shape) for piece, t in zip(pieces, tensors, strict=True))


def _take_tensors(tensors: Iterable[Any], size_limit: int) -> Iterator[list[Any]]:
    """Group tensors by dtype, in their order. A group ends before it would exceed ``size_limit`` bytes.

    A tensor that is larger than the limit is a group of its own.

    Mirrors torch/_utils.py, ``_take_tensors``.
    """
    groups: dict[Any, tuple[list[Any], int]] = {}
    for tensor in tensors:
        size = tensor.numel() * tensor.element_size()
        group, so_far = groups.get(tensor.dtype, ([], 0))
        if group and so_far + size > size_limit:
            yield group
            group, so_far = [], 0
        groups[tensor.dtype] = ([*group, tensor], so_far + size)
    for group, _ in groups.values():
        yield group


def _reorder_tensors_as(tensors: Sequence[Any], ordered_tensors: Sequence[Any]) -> tuple[Any, ...]:
    """Return ``tensors``, which :func:`_take_tensors` grouped by dtype, in the order of ``ordered_tensors``.

    Mirrors torch/_utils.py, ``_reorder_tensors_as``.
    """
    by_dtype: dict[Any, list[Any]] = {}
    for tensor in tensors:
        by_dtype.setdefault(tensor.dtype, []).append(tensor)
    following = {dtype: iter(group) for dtype, group in by_dtype.items()}
    return tuple(next(following[tensor.dtype]) for tensor in ordered_tensors)


# --- the functions that pickled tensors name; names and arguments are those of PyTorch --------------------------------


def set_from_file(tensor: Any, storage: Any, storage_offset: Any, size: Any, stride: Any) -> Any:
    """Return ``tensor`` on ``storage``, with a geometry that a file contains.

    ``set_`` enlarges a storage that is too small, with undefined contents. A file that asks for more elements than it
    contains is damaged.
    """
    if 0 not in size:
        last = storage_offset + sum((n - 1) * step for n, step in zip(size, stride, strict=False))
        if storage.nbytes() < (last + 1) * tensor.itemsize < 2**63:  # set_ refuses larger numbers itself
            raise RuntimeError(
                f"Trying to resize storage that is not resizable: the file has a tensor of size {tuple(size)}, strides "
                f"{tuple(stride)} and offset {storage_offset}, but its storage has only {storage.nbytes()} bytes"
            )
    return tensor.set_(storage, storage_offset, size, stride)


def _rebuild_tensor(storage: Any, storage_offset: int, size: Any, stride: Any) -> Any:
    empty: Any = _C._VariableFunctions.empty(0, dtype=storage.dtype, device=storage.device)
    return set_from_file(empty, storage, storage_offset, size, stride)


def _rebuild_tensor_v2(
    storage: Any,
    storage_offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    backward_hooks: Any,
    metadata: Any = None,
) -> Any:
    tensor = _rebuild_tensor(storage, storage_offset, size, stride)
    tensor.requires_grad = requires_grad
    if backward_hooks:  # only old files contain hooks
        tensor._backward_hooks = backward_hooks
    return tensor


def _rebuild_meta_tensor_no_storage(dtype: Any, size: Any, stride: Any, requires_grad: bool) -> Any:
    tensor: Any = _C._VariableFunctions.empty_strided(size, stride, dtype=dtype, device="meta")
    return tensor.requires_grad_(requires_grad)


def _get_obj_state(obj: Any) -> Any:
    """Return the attributes of an object, as ``object.__getstate__`` does from Python 3.11 on."""
    if hasattr(obj, "__getstate__"):
        return obj.__getstate__()
    slots = copyreg._slotnames(type(obj))  # type: ignore[attr-defined]
    if not slots:
        return obj.__dict__
    return obj.__dict__, {name: getattr(obj, name) for name in slots if hasattr(obj, name)}


def _set_obj_state(obj: Any, state: Any) -> Any:
    if isinstance(state, tuple) and len(state) != 2:
        raise RuntimeError(f"Invalid serialized state: {state}")
    for attributes in state if isinstance(state, tuple) else (state,):
        for name, value in (attributes or {}).items():
            setattr(obj, name, value)
    return obj


# --- exceptions of other threads and processes ------------------------------------------------------------------------


class KeyErrorMessage(str):
    """A text whose repr is the text itself, because a KeyError shows the repr of its argument."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """The exception that is being handled, as its type and text, to be raised again in another thread or process.

    The exception itself is not kept: its traceback would keep the variables of all its frames, and cannot be pickled.

    Args:
        where: where the exception was raised, for the message: "in DataLoader worker process 1".

    Mirrors torch/_utils.py, ``ExceptionWrapper``.
    """

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        exc_info = exc_info or sys.exc_info()
        self.exc_type = exc_info[0]
        self.exc_msg = "".join(traceback.format_exception(*exc_info))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raise an exception of the same type, whose message has the original traceback.

        An exception whose type takes other arguments than one message is raised as a RuntimeError.
        """
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = KeyErrorMessage(message)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=message)
        try:
            exception = self.exc_type(message)
        except Exception:
            raise RuntimeError(message) from None
        try:
            raise exception
        finally:
            # Otherwise this frame owns the exception, whose traceback owns this frame and those of the callers. The
            # loader would live, with its workers, until the garbage collector finds this cycle.
            del exception


def cpu_count() -> int | None:
    """Return the number of processors that this process may use.

    Mirrors torch/_utils.py, ``cpu_count``.
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _assert_async(input: Any, assert_msg: str | None = None) -> None:
    """Raise an error if a tensor with one element is zero: at once on the CPU, later on a CUDA device.

    On a device the check is a part of the stream's work, so the program does not wait. If the check fails, the next
    call that waits for the device raises "device-side assert triggered", and the device cannot be used any more.

    Args:
        input: the tensor.
        assert_msg: the message of the error on the CPU.

    Raises:
        RuntimeError: the tensor is zero and on the CPU, or does not have exactly one element.

    Example:
        >>> torch._assert_async(torch.tensor(1))

    Mirrors aten/src/ATen/native/TensorCompare.cpp and cuda/TensorCompare.cu, ``_assert_async``.
    """
    if input.numel() != 1:
        what = "no values" if input.numel() == 0 else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
    if input.is_cuda:
        index = (input.detach().view(1) == 0).long()  # 1, which is no index of the tensor below, if the check fails
        index.new_zeros(1).index_select(0, index)
    elif not bool(input):
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


def get_device_module(device: Any = None) -> Any:
    """Return the module with the functions for one type of device, such as ``torch.cuda``.

    Args:
        device: a device or its name; None means the accelerator, or the CPU if there is none.

    Raises:
        RuntimeError: there is no such device, or no module for it.

    Example:
        >>> torch.get_device_module("cpu") is torch.cpu
        True

    Mirrors torch/__init__.py, ``get_device_module``.
    """
    if isinstance(device, _C.device | str):
        name = _C.device(device).type
    elif device is None:
        name = (_C._accelerator_getAccelerator() or _C.device("cpu")).type
    else:
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    module = getattr(sys.modules["reftorch"], name, None)
    if not isinstance(module, ModuleType):
        raise RuntimeError(f"Device '{name}' does not have a corresponding module registered as 'torch.{name}'.")
    return module
