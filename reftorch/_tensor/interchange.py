"""Conversions of tensors from and to numpy, DLPack, storages, copies and pickles.

Mirrors: torch/_tensor.py (__array__, __dlpack__, __deepcopy__, __reduce_ex__, ...)
Leaves out: other layouts.
"""

from __future__ import annotations

import copy as _copy
import copyreg
from collections import OrderedDict
from typing import Any

from reftorch import _C, _utils
from reftorch._torch_function import handle_torch_function, has_torch_function_unary
from reftorch.autograd import no_grad
from reftorch.storage import _LEGACY_CLASSES, TypedStorage, UntypedStorage, _warn_typed_storage_removal
from reftorch.utils.hooks import warn_if_has_hooks

__all__: list[str] = []


class _TensorInterchange:
    """The methods of :class:`reftorch.Tensor` that this file defines."""

    # ---- numpy

    __array_priority__ = 1000  # makes numpy call the tensor's operator for `array * tensor`

    def __array__(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(
                    f"__array__: a tensor of {self.dtype} can not become an array of {dtype} without a copy"
                )
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_wrap__(self: Any, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Convert the result of a numpy ufunc that was called on a tensor."""
        import numpy

        array = numpy.asarray(array)
        return _C.from_numpy(array.astype("uint8") if array.dtype == bool else array)

    # ---- DLPack

    def __dlpack__(
        self: Any,
        *,
        stream: Any = -1,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule on this tensor's memory, for another library's ``from_dlpack``.

        Args:
            stream: None or -1 for a CPU tensor, because the CPU has no streams. For a CUDA tensor -1 says that the
                consumer waits for the tensor's work by itself; otherwise this call waits for the current stream.
            max_version: the newest version that the consumer supports; from (1, 0) on, the capsule is versioned.
            dl_device: the device on which the consumer wants the memory.
            copy: True always copies, False never copies.

        Raises:
            BufferError: the tensor requires a gradient, which would be lost; or it is on meta, which has no memory.
            ValueError: a copy is needed, and ``copy`` is False.

        Example:
            >>> import numpy
            >>> x = torch.zeros(2)
            >>> numpy.from_dlpack(x)[:] = 1
            >>> x
            tensor([1., 1.])

        Mirrors torch/_tensor.py, ``Tensor.__dlpack__``.
        """
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        if stream is not None and type(stream) is not int:
            raise TypeError("stream must be ``int`` or ``none``")
        if stream is not None and stream != -1 and not self.is_cuda:
            raise AssertionError("stream should be None on cpu.")
        if self.is_cuda and stream != -1:
            _C._accelerator_getStream(self.device.index).synchronize()
        versioned = max_version is not None and max_version[0] >= 1
        export = _C._to_dlpack_versioned if versioned else _C._to_dlpack
        return export(self, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self: Any) -> tuple[Any, int]:
        """The device of the memory, as DLPack numbers devices; meta, which DLPack does not know, raises ValueError."""
        from reftorch.utils.dlpack import DLDeviceType

        if self.is_meta:
            raise ValueError("Unknown device type meta for Dlpack")
        return (DLDeviceType.kDLCUDA, self.device.index) if self.is_cuda else (DLDeviceType.kDLCPU, 0)

    # ---- storage

    def untyped_storage(self: Any) -> UntypedStorage:
        """The bytes that this tensor and its views share.

        Example:
            >>> x = torch.arange(6.0)
            >>> x.untyped_storage().data_ptr() == x[2:].untyped_storage().data_ptr()
            True

        Mirrors torch/_C/__init__.pyi.in, ``TensorBase.untyped_storage``.
        """
        return UntypedStorage._wrap(_C.StorageBase._of(self))

    def storage(self: Any) -> TypedStorage:
        """The memory as numbers of this tensor's dtype; deprecated, as in PyTorch: use :meth:`untyped_storage`."""
        _warn_typed_storage_removal()
        return self._typed_storage()

    def _typed_storage(self: Any) -> TypedStorage:
        return TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype, _internal=True)

    def share_memory_(self: Any) -> Any:
        """Move the memory of this tensor and its views into shared memory.

        Processes that are forked later, and processes that the tensor is sent to, read and write the same memory. The
        memory of a CUDA device stays where it is, because other processes can open it there.

        Example:
            >>> torch.zeros(2).share_memory_().is_shared()
            True

        Mirrors torch/_tensor.py.
        """
        self.untyped_storage().share_memory_()
        return self

    def pin_memory(self: Any, device: Any = None) -> Any:
        """Return a copy of this tensor in pinned memory, or the tensor itself if its memory is pinned.

        An accelerator can read pinned memory directly, so ``x.pin_memory().to(device, non_blocking=True)`` returns
        before the copy is finished.

        Args:
            device: has no effect, because memory is pinned for the accelerator that exists; PyTorch has this argument.

        Raises:
            RuntimeError: there is no accelerator, or this tensor is not on the CPU.

        Mirrors aten/src/ATen/native/Memory.cpp.
        """
        return self if self.is_pinned() else _C._pin_memory(self)

    def record_stream(self: Any, stream: Any) -> None:
        """Tell the allocator that work on ``stream`` uses this tensor.

        When the tensor is freed, its memory is not reused until the work that is then on ``stream`` is finished.

        Args:
            stream: a stream of this tensor's device.

        Raises:
            TypeError: ``stream`` is not a stream.

        Mirrors aten/src/ATen/native/cuda/RecordStream.cu.
        """
        _C._record_stream(self, stream)

    def storage_type(self: Any) -> Any:
        """The class of this tensor's storage."""
        return _LEGACY_CLASSES[f"{_utils.typename(self).removeprefix('torch.').removesuffix('Tensor')}Storage"]

    def set_(self: Any, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Any:
        """Use other memory from now on: the memory of a tensor, of a storage, or none.

        Args:
            source: the tensor or the storage.
            storage_offset, size, stride: the part of the source that this tensor views; all of it by default.

        Raises:
            RuntimeError: the memory is too short and cannot grow, or is of another dtype; or this tensor is a leaf that
                requires a gradient.

        Example:
            >>> x = torch.arange(6.0)
            >>> torch.empty(0).set_(x.untyped_storage(), 1, (2,), (3,))
            tensor([1., 4.])

        Mirrors aten/src/ATen/native/TensorShape.cpp, ``set_``.
        """
        # The question is_leaf comes last, because it would raise for a view that must not be used.
        if _C.is_grad_enabled() and self.requires_grad and self.is_leaf:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        if source is None:
            return super().set_()  # type: ignore[misc]
        if isinstance(source, (UntypedStorage, TypedStorage)):
            if isinstance(source, TypedStorage) and source.dtype != self.dtype:
                raise RuntimeError(
                    f"Expected a Storage of type {self.dtype} or an UntypedStorage, but got type {source.dtype} for "
                    "argument 1 'storage'"
                )
            source = source.untyped()._storage.tensor(self.dtype)
            if size is None:
                size = (source.numel() - storage_offset,)
        elif size is None:
            return super().set_(source)  # type: ignore[misc]
        return super().set_(source, storage_offset, size, () if stride is None else stride)  # type: ignore[misc]

    # ---- copies and pickle

    def __deepcopy__(self: Any, memo: dict[Any, Any]) -> Any:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
                "moment.  If you were attempting to deepcopy a module, this may be because of a torch.nn.utils."
                "weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001. Hint: copy x.detach()."
            )
        if id(self) in memo:
            return memo[id(self)]
        with no_grad():
            new = self.new_empty([])
            if type(new) is not type(self):
                raise RuntimeError(
                    "The default implementation of __deepcopy__() for non-wrapper subclasses only works for subclass "
                    "types that implement new_empty() and for which that function returns another instance of the "
                    "same subclass. You should either properly implement new_empty() for your subclass or override "
                    "__deepcopy__() if it is intended behavior for new_empty() to return an instance of a different "
                    "type."
                )
            new.set_(self.untyped_storage().__deepcopy__(memo), self.storage_offset(), self.size(), self.stride())
            if self.requires_grad:
                new.requires_grad_()
            if self.grad is not None:
                new.grad = self.grad.__deepcopy__(memo)
            for slot in copyreg._slotnames(type(self)):  # type: ignore[attr-defined]
                if hasattr(self, slot):
                    setattr(new, slot, _copy.deepcopy(getattr(self, slot), memo))
            new.__dict__ = _copy.deepcopy(self.__dict__, memo)
        memo[id(self)] = new
        return new

    def __reduce_ex__(self: Any, proto: Any) -> Any:
        state = _utils._get_obj_state(self)
        if type(self).__bases__[0] is _TensorInterchange and not state:  # Tensor itself, not a subclass
            return self._reduce_ex_internal()
        if has_torch_function_unary(self):
            return handle_torch_function(_TensorInterchange.__reduce_ex__, (self,), self, proto)
        func, args = self._reduce_ex_internal()
        return _rebuild_from_type_v2, (func, type(self), args, state)

    def _reduce_ex_internal(self: Any) -> Any:
        """The call of :func:`_utils._rebuild_tensor_v2` that rebuilds this tensor. Hooks are not kept."""
        warn_if_has_hooks(self)
        if self.is_meta:  # a meta tensor has no bytes to save
            geometry = (self.dtype, tuple(self.size()), self.stride(), self.requires_grad)
            return _utils._rebuild_meta_tensor_no_storage, geometry
        return _utils._rebuild_tensor_v2, (
            self._typed_storage(),
            self.storage_offset(),
            tuple(self.size()),
            self.stride(),
            self.requires_grad,
            OrderedDict(),
        )

    def __setstate__(self: Any, state: Any) -> None:
        if not self.is_leaf:
            raise RuntimeError("__setstate__ can be only called on leaf Tensors")
        if len(state) == 4:  # storage, offset, size, stride
            _utils.set_from_file(self, *state)
            return
        if len(state) == 5:  # from an old Parameter or Variable
            self.data = state[0]
            state = (state[3], state[4], state[2])
        self.requires_grad, _, self._backward_hooks = state


def _rebuild_from_type_v2(func: Any, new_type: type, args: tuple[Any, ...], state: Any) -> Any:
    """Rebuild a tensor of a subclass, or a tensor with attributes, from a pickle."""
    result = func(*args)
    if type(result) is not new_type:
        result = result.as_subclass(new_type)
    own = getattr(new_type, "__setstate__", None)
    if own is not None and own is not _TensorInterchange.__setstate__:
        own(result, state)
        return result
    return _utils._set_obj_state(result, state)
