"""The memory that tensors share, as Python objects: bytes, or numbers of one dtype.

Mirrors: torch/storage.py
Leaves out: the dtypes that have no tensors here. This file is a little over 500
lines long because it contains both storage classes, as in PyTorch.
"""

from __future__ import annotations

import os
from builtins import bool as _bool  # inside the class TypedStorage, `bool` and `int` are methods
from builtins import int as _int
from collections.abc import Iterator
from typing import Any

from reftorch import _C, _shared_memory
from reftorch._utils import _warn_once

__all__ = ["TypedStorage", "UntypedStorage"]


class UntypedStorage:
    """The memory of tensors, as bytes.

    Args:
        size: the number of bytes, with undefined contents; or a sequence of integers, of which the low 8 bits are used.
        device: the device; the CPU if None.

    Example:
        >>> x = torch.zeros(2, dtype=torch.int16)
        >>> x.untyped_storage()[1] = 1
        >>> x
        tensor([256,   0], dtype=torch.int16)

    Mirrors torch/storage.py, ``UntypedStorage``.
    """

    _storage: _C.StorageBase

    def __init__(self, size: Any = 0, *, device: Any = None) -> None:
        if device is not None and _C.device(device).type != "cpu":
            if isinstance(size, int):
                there: Any = _C._VariableFunctions.empty(size, dtype=_C.uint8, device=device)
            else:
                there = UntypedStorage(size)._bytes().to(device)
            self._storage = _C.StorageBase._of(there)
        elif isinstance(size, int):
            self._storage = _C.StorageBase(size)
        elif isinstance(size, bytes | bytearray):
            self._storage = _C.StorageBase(len(size))
            self._memory()[:] = size
        else:
            self._storage = _C.StorageBase._of(_C.tensor([_byte(item, size) for item in size], dtype=_C.uint8))

    @classmethod
    def _wrap(cls, storage: _C.StorageBase) -> UntypedStorage:
        self = cls.__new__(cls)
        self._storage = storage
        return self

    def __eq__(self, other: object) -> Any:
        """Whether both are the same memory. There may be several objects for one memory; PyTorch has one."""
        return isinstance(other, UntypedStorage) and self._cdata == other._cdata

    def __hash__(self) -> int:
        return hash(self._cdata)

    def _check_memory(self) -> None:
        """Raise an error if there are no bytes that Python could read. Ops on :meth:`_bytes` need no bytes."""
        if self.device.type == "meta":
            raise NotImplementedError("Not available for 'meta' device type")

    def _bytes(self) -> Any:
        """Return all bytes as a tensor on this memory."""
        return self._storage.tensor(_C.uint8)

    def _memory(self) -> memoryview:
        """Return all bytes as a memoryview, through which they can be read and written.

        The memory must be on the CPU. The memoryview does not keep the storage alive.
        """
        self._check_memory()
        assert self.device.type == "cpu", "Python cannot address the memory of a device"
        if self.nbytes() == 0:
            return memoryview(bytearray())
        import ctypes  # not at the top: few programs need it

        return memoryview((ctypes.c_char * self.nbytes()).from_address(self.data_ptr())).cast("B")

    @classmethod
    def from_buffer(cls, buffer: Any, *args: Any, **kwargs: Any) -> UntypedStorage:
        """Return a storage with a copy of the bytes of an object that has Python's buffer protocol.

        Example:
            >>> torch.UntypedStorage.from_buffer(b"ab", dtype=torch.uint8).tolist()
            [97, 98]
        """
        return cls(bytearray(buffer))

    @property
    def _cdata(self) -> int:
        return self._storage.cdata()

    @property
    def device(self) -> _C.device:
        """The device of the memory."""
        return self._storage.device()

    @property
    def is_cuda(self) -> bool:
        """Whether the memory is on a CUDA device."""
        return self.device.type == "cuda"

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._storage.data_ptr()

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._storage.nbytes()

    def size(self) -> int:
        """The number of bytes."""
        return self.nbytes()

    def element_size(self) -> int:
        """The size of an element, which is 1."""
        return 1

    def resizable(self) -> bool:
        """Whether the storage can be resized: the library owns the memory, and no other code uses its address."""
        return self._storage.resizable()

    def is_shared(self) -> bool:
        """Whether other processes can map the memory: it is shared memory, or memory of a CUDA device."""
        return self._storage.is_shared()

    def share_memory_(self) -> UntypedStorage:
        """Move the bytes into shared memory, also for the tensors that use this storage.

        Processes that are forked later, and processes that the storage is sent to, share the memory: each reads what
        the others write. The storage cannot be resized any more. :func:`reftorch.multiprocessing.set_sharing_strategy`
        chooses between memory with and without a name.

        A numpy array or a DLPack tensor that was made from the storage before stays on the old memory, and no longer
        sees what is written to the storage. An array that this call finds as the owner of the memory
        (:func:`reftorch.from_numpy`) is left behind in the same way.

        Nothing is done for a storage on a CUDA device, because other processes open its memory where it is.

        Raises:
            RuntimeError: there is no room for the memory, or the storage is on the meta device.

        Mirrors torch/storage.py, ``share_memory_``.
        """
        if not self.is_shared():
            if _shared_memory.uses_names():
                self._storage._share_filename_cpu_(_shared_memory.new_name())
            else:
                self._storage._share_fd_cpu_()
        return self

    def _shared_name(self) -> str:
        """The name of the shared memory, or "" if the memory has no name. The storage must be shared."""
        return self._storage._share_filename_cpu_("")[0]  # memory that is shared already does not get the name

    def _share_cuda_(self) -> tuple[_int, bytes | None, _int, _int, bytes | None, _int, bytes | None, _bool | None]:
        """Return what another process gives to :meth:`_new_shared_cuda`.

        The memory then stays until that process has dropped it: see Note [CUDA IPC refcounting] in
        cpp/csrc/cuda/CudaIPCTypes.h. The handles of an empty storage are None.

        Raises:
            RuntimeError: the storage came from another process; or its memory is not that of the caching allocator, but
                for example that of a pluggable allocator.

        Mirrors torch/csrc/StorageSharing.cpp, ``THPStorage_shareCuda``.
        """
        return _C._cuda_shareStorage(self._storage)

    @classmethod
    def _new_shared_cuda(
        cls,
        device: _int,
        handle: bytes,
        size_bytes: _int,
        offset_bytes: _int,
        ref_counter_handle: bytes,
        ref_counter_offset: _int,
        event_handle: bytes,
        event_sync_required: _bool,
    ) -> UntypedStorage:
        """Return a storage on memory of a CUDA device that another process has allocated.

        Args:
            device: the number of the device, in both processes.
            handle: opens the segment of memory in which the storage is.
            size_bytes: the size of the storage.
            offset_bytes: where it begins in the segment.
            ref_counter_handle: the file of counters that the sender looks at.
            ref_counter_offset: the place of this message's counter in the file.
            event_handle: an event after the work that the sender had queued.
            event_sync_required: whether the current stream must wait for the event.

        Raises:
            RuntimeError: the sender has freed the memory or has ended, or is this process.

        Mirrors torch/csrc/StorageSharing.cpp, ``THPStorage_newSharedCuda``.
        """
        return cls._wrap(
            _C._cuda_newSharedStorage(
                device,
                handle,
                size_bytes,
                offset_bytes,
                ref_counter_handle,
                ref_counter_offset,
                event_handle,
                event_sync_required,
            )
        )

    @classmethod
    def _release_ipc_counter_cuda(cls, ref_counter_handle: bytes, ref_counter_offset: _int) -> None:
        """Tell the sender of a message that this process does not hold the memory by this message.

        Mirrors torch/csrc/StorageSharing.cpp, ``THPStorage_releaseIPCCounter``.
        """
        _C._cuda_releaseIPCCounter(ref_counter_handle, ref_counter_offset)

    @classmethod
    def _new_shared(cls, size: int) -> UntypedStorage:
        """Return a storage of ``size`` bytes in shared memory."""
        name = _shared_memory.new_name() if _shared_memory.uses_names() else ""
        return cls._wrap(_C.StorageBase._new_shared(size, name))

    def is_pinned(self, device: Any = None) -> bool:
        """Whether the memory is pinned: host memory that a CUDA device can copy from and to by itself."""
        return self.device.type == "cpu" and self._bytes().is_pinned()

    def pin_memory(self, device: Any = None) -> UntypedStorage:
        """Return the storage itself if its memory is pinned, and a copy in pinned memory otherwise.

        Raises:
            TypeError: the memory is not on the CPU.
            RuntimeError: there is no CUDA device.
        """
        if self.device.type != "cpu":
            raise TypeError(f"cannot pin '{self.device}' memory: only memory of the CPU can be pinned")
        return self if self.is_pinned(device) else self._wrap(_C.StorageBase._of(self._bytes().pin_memory()))

    def resize_(self, size: int) -> UntypedStorage:
        """Change the number of bytes to ``size``. The contents are kept as far as there is room.

        A tensor on this storage keeps its shape. If its elements no longer fit, every access to them raises a
        RuntimeError until the storage is large enough again.

        Raises:
            RuntimeError: another library owns or uses the memory (numpy, DLPack), or the memory is shared.
        """
        self._storage.resize_(size)
        return self

    def __len__(self) -> int:
        return self.nbytes()

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __getitem__(self, index: Any) -> Any:
        self._check_memory()
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                raise TypeError(f"Trying to slice with a step of {step}, but only a step of 1 is supported")
            return self._wrap(_C.StorageBase._of(self._bytes()[start : max(start, stop)].clone()))
        return self._bytes()[_checked_index(index, len(self))].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._bytes()[index if isinstance(index, slice) else _checked_index(index, len(self))] = value & 255

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def tolist(self) -> list[int]:
        """Return the bytes as a list of integers."""
        self._check_memory()
        return self._bytes().tolist()

    def fill_(self, value: int) -> UntypedStorage:
        """Set every byte to a value."""
        self._bytes().fill_(value)
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> UntypedStorage:
        """Overwrite the bytes with those of another storage of equal size."""
        source = source.untyped()
        if source.nbytes() != self.nbytes():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was {source.nbytes()} bytes"
            )
        self._bytes().copy_(source._bytes())
        return self

    def clone(self) -> UntypedStorage:
        """Return a copy with its own memory."""
        return self._wrap(_C.StorageBase._of(self._bytes().clone()))

    def new(self) -> UntypedStorage:
        """Return an empty storage on the same device."""
        return type(self)(device=self.device)

    def untyped(self) -> UntypedStorage:
        """Return the storage itself."""
        return self

    def cpu(self) -> UntypedStorage:
        """Return the storage itself if it is on the CPU, and a copy on the CPU otherwise."""
        return self if self.device.type == "cpu" else self._on("cpu")

    def cuda(self, device: Any = None, non_blocking: bool = False) -> UntypedStorage:
        """Return the storage itself if it is on that CUDA device, and a copy there otherwise.

        Args:
            device: the device, or its number; the current one if None.
            non_blocking: whether the copy may run while the program goes on.
        """
        from reftorch.cuda._device import _device_index

        return self.to(device=_C.device("cuda", _device_index(device)), non_blocking=non_blocking)

    def to(self, *, device: Any, non_blocking: bool = False) -> UntypedStorage:
        """Return the storage itself if it is on ``device``, and a copy on the device otherwise."""
        there = self._bytes().to(device, non_blocking=non_blocking)
        return self if there.device == self.device else self._wrap(_C.StorageBase._of(there))

    def _on(self, device: str) -> UntypedStorage:
        return self.to(device=device)

    def byteswap(self, dtype: Any) -> None:
        """Reverse the order of the bytes of each element, as if the elements had the type ``dtype``.

        Example:
            >>> storage = torch.UntypedStorage([1, 0, 2, 0])
            >>> storage.byteswap(torch.int16)
            >>> storage.tolist()
            [0, 1, 0, 2]
        """
        elements = self._bytes().view(-1, dtype.itemsize)
        elements.copy_(elements.flip(1))

    def _view(self, start: int, nbytes: int) -> UntypedStorage:
        """Return a storage of ``nbytes`` bytes of this memory, from the byte ``start`` on."""
        if not 0 <= start <= start + nbytes <= self.nbytes():
            raise RuntimeError(f"expected a part of {self.nbytes()} bytes, got {nbytes} bytes from byte {start} on")
        if nbytes == 0:
            return UntypedStorage(0)
        import ctypes

        memory: Any = (ctypes.c_char * self.nbytes()).from_address(self.data_ptr())
        memory.owner = self  # keeps the memory alive as long as the part is used
        return self._wrap(_C.StorageBase._of(_C._frombuffer(memory, _C.uint8, nbytes, start)))

    @staticmethod
    def from_file(filename: str, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """Return a storage whose memory is that of a file.

        Args:
            filename: the path.
            shared: whether changes are written to the file, which is made, or made longer, if it is too short.
            nbytes: the number of bytes; 0 means the whole file.

        Raises:
            RuntimeError: the file cannot be opened, or has fewer bytes and is not shared.

        Mirrors torch/csrc/StorageMethods.cpp, ``THPStorage_fromFile``.
        """
        import mmap

        try:
            with open(filename, ("r+b" if os.path.exists(filename) else "w+b") if shared else "rb") as file:
                there = os.fstat(file.fileno()).st_size
                if shared and there < nbytes:
                    file.truncate(nbytes)
                elif there < nbytes:
                    raise RuntimeError(f"from_file: the file <{filename}> has {there} bytes, expected {nbytes}")
                if max(there, nbytes) == 0:
                    return UntypedStorage(0)
                access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
                memory = mmap.mmap(file.fileno(), nbytes or there, access=access)
        except OSError as error:
            raise RuntimeError(f"from_file: unable to open file <{filename}>: {error.strerror}") from None
        return UntypedStorage._wrap(_C.StorageBase._of(_C._frombuffer(memory, _C.uint8, len(memory), 0)))

    def __copy__(self) -> UntypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[Any, Any]) -> UntypedStorage:
        # Tensors of one deepcopy have different storage objects for one memory, so the copy is found by its address.
        copies = memo.setdefault("torch", {})
        if self._cdata not in copies:
            copies[self._cdata] = self.clone()
        return copies[self._cdata]

    def __reduce__(self) -> Any:
        if self.is_cuda:
            return UntypedStorage._on, (self.cpu(), str(self.device))
        return UntypedStorage, (bytes(self._memory()),)

    def __str__(self) -> str:
        text = "..." if self.device.type == "meta" else " " + "\n ".join(map(str, self.tolist()))
        return f"{text}\n[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"

    def __repr__(self) -> str:
        return str(self)


def _byte(item: Any, sequence: Any) -> int:
    """Return the low 8 bits of an integer."""
    if not isinstance(item, int):
        raise RuntimeError(
            f"torch.UntypedStorage(): tried to construct a storage from a sequence ({type(sequence).__name__}), but "
            f"one of the items was of type {type(item).__name__} instead of int"
        )
    return item & 255


def _checked_index(index: Any, length: int) -> int:
    if not isinstance(index, int):
        raise TypeError(f"can't index a torch.UntypedStorage with {type(index).__name__}")
    if not -length <= index < length:
        raise IndexError(f"index {index} out of range for storage of size {length}")
    return index % length


_STORAGE_NAMES = {
    _C.float64: "DoubleStorage",
    _C.float32: "FloatStorage",
    _C.float16: "HalfStorage",
    _C.int64: "LongStorage",
    _C.int32: "IntStorage",
    _C.int16: "ShortStorage",
    _C.int8: "CharStorage",
    _C.uint8: "ByteStorage",
    _C.bool: "BoolStorage",
    _C.bfloat16: "BFloat16Storage",
}


def _get_dtype_from_pickle_storage_type(name: str) -> Any:
    """Return the dtype of a class such as ``FloatStorage``, by its name.

    Raises:
        KeyError: there is no such class.
    """
    return {storage: dtype for dtype, storage in _STORAGE_NAMES.items()}[name]


def _warn_typed_storage_removal() -> None:
    _warn_once(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage "
        "class. This should only matter to you if you are using storages directly.  To access UntypedStorage "
        "directly, use tensor.untyped_storage() instead of tensor.storage()"
    )


class TypedStorage:
    """A storage whose elements are numbers of one dtype. :meth:`reftorch.Tensor.storage` returns it. Deprecated.

    Args:
        args: nothing, a size, or a sequence of numbers.
        wrap_storage: the storage whose memory is used.
        dtype: the type of the elements.

    Example:
        >>> x = torch.tensor([1.5, 2.0])
        >>> torch.TypedStorage(wrap_storage=x.untyped_storage(), dtype=x.dtype, _internal=True).tolist()
        [1.5, 2.0]

    Mirrors torch/storage.py, ``TypedStorage``.
    """

    dtype: Any = None
    _untyped_storage: UntypedStorage

    def __init__(
        self, *args: Any, wrap_storage: Any = None, dtype: Any = None, device: Any = None, _internal: _bool = False
    ) -> None:
        if not _internal and type(self) is TypedStorage:
            _warn_typed_storage_removal()
        if dtype is not None:
            self.dtype = dtype
        elif self.dtype is None:
            self.dtype = _C.get_default_dtype()
        if wrap_storage is not None:
            if args:
                raise RuntimeError("TypedStorage: no positional arguments when using 'wrap_storage'")
            self._untyped_storage = wrap_storage.untyped()
        elif not args or isinstance(args[0], int):
            size = args[0] if args else 0
            self._untyped_storage = UntypedStorage(size * self.dtype.itemsize, device=device)
        else:
            values = _C.tensor(list(args[0]), dtype=self.dtype, device=device)
            self._untyped_storage = UntypedStorage._wrap(_C.StorageBase._of(values))

    def _tensor(self) -> Any:
        return self._untyped_storage._storage.tensor(self.dtype)

    def _new(self, untyped: UntypedStorage) -> TypedStorage:
        return TypedStorage(wrap_storage=untyped, dtype=self.dtype, _internal=True)

    @classmethod
    def from_buffer(cls, buffer: Any, byte_order: str | None = None, **kwargs: Any) -> TypedStorage:
        """Return a storage with a copy of the bytes of an object that has Python's buffer protocol."""
        return cls(wrap_storage=UntypedStorage.from_buffer(buffer), **kwargs)

    @property
    def device(self) -> _C.device:
        """The device of the memory."""
        return self._untyped_storage.device

    @property
    def is_cuda(self) -> _bool:
        """Whether the memory is on a CUDA device."""
        return self._untyped_storage.is_cuda

    @property
    def _cdata(self) -> _int:
        return self._untyped_storage._cdata

    def untyped(self) -> UntypedStorage:
        """Return the storage of bytes on this memory."""
        return self._untyped_storage

    def data_ptr(self) -> _int:
        """The address of the first element."""
        return self._untyped_storage.data_ptr()

    def nbytes(self) -> _int:
        """The number of bytes."""
        return self._untyped_storage.nbytes()

    def element_size(self) -> _int:
        """The number of bytes of an element."""
        return self.dtype.itemsize

    def size(self) -> _int:
        """The number of elements."""
        return len(self)

    def __len__(self) -> _int:
        return self.nbytes() // self.dtype.itemsize

    def resizable(self) -> _bool:
        """Whether the storage can be resized: the library owns the memory, and no other code uses its address."""
        return self._untyped_storage.resizable()

    def resize_(self, size: _int) -> None:
        """Change the number of elements to ``size``."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        return self._tensor()[_checked_index(index, len(self))].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(index, (int, slice)):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        value = _C.tensor(value, dtype=self.dtype) if isinstance(value, (list, tuple)) else value
        self._tensor()[index if isinstance(index, slice) else _checked_index(index, len(self))] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def tolist(self) -> list[Any]:
        """Return the elements as a list of Python numbers."""
        return self._tensor().tolist()

    def fill_(self, value: Any) -> TypedStorage:
        """Set every element to a value."""
        self._tensor().fill_(value)
        return self

    def copy_(self, source: Any, non_blocking: _bool | None = None) -> TypedStorage:
        """Overwrite the elements with those of another storage, converted to this dtype."""
        self._tensor().copy_(source._tensor() if isinstance(source, TypedStorage) else source._bytes())
        return self

    def clone(self) -> TypedStorage:
        """Return a copy with its own memory."""
        return self._new(self._untyped_storage.clone())

    def cpu(self) -> TypedStorage:
        """Return the storage itself if it is on the CPU, and a copy on the CPU otherwise."""
        return self if self.device.type == "cpu" else self._new(self._untyped_storage.cpu())

    def cuda(self, device: Any = None, non_blocking: _bool = False) -> TypedStorage:
        """Return the storage itself if it is on that CUDA device, and a copy there; see :meth:`UntypedStorage.cuda`."""
        return self._on(self._untyped_storage.cuda(device, non_blocking))

    def to(self, *, device: Any, non_blocking: _bool = False) -> TypedStorage:
        """Return the storage itself if it is on ``device``, and a copy on the device otherwise."""
        return self._on(self._untyped_storage.to(device=device, non_blocking=non_blocking))

    def _on(self, untyped: UntypedStorage) -> TypedStorage:
        return self if untyped is self._untyped_storage else self._new(untyped)

    def get_device(self) -> _int:
        """Return the number of the storage's device, which is -1 for the CPU."""
        return -1 if self.device.index is None else self.device.index

    def pin_memory(self, device: Any = None) -> TypedStorage:
        """Return the storage itself if its memory is pinned, and a copy in pinned memory otherwise."""
        return self._on(self._untyped_storage.pin_memory(device))

    def is_shared(self) -> _bool:
        """Whether other processes can map the memory: it is shared memory, or memory of a CUDA device."""
        return self._untyped_storage.is_shared()

    def share_memory_(self) -> TypedStorage:
        """Move the bytes into shared memory, see :meth:`UntypedStorage.share_memory_`."""
        self._untyped_storage.share_memory_()
        return self

    def is_pinned(self, device: Any = None) -> _bool:
        """Whether the memory is pinned, see :meth:`UntypedStorage.is_pinned`."""
        return self._untyped_storage.is_pinned(device)

    def _to(self, dtype: Any) -> TypedStorage:
        converted = self._tensor().to(dtype, copy=True)
        untyped = UntypedStorage._wrap(_C.StorageBase._of(converted))
        return TypedStorage(wrap_storage=untyped, dtype=dtype, _internal=True)

    def double(self) -> TypedStorage:
        """Return a storage with the elements converted to float64."""
        return self._to(_C.float64)

    def float(self) -> TypedStorage:
        """Return a storage with the elements converted to float32."""
        return self._to(_C.float32)

    def half(self) -> TypedStorage:
        """Return a storage with the elements converted to float16."""
        return self._to(_C.float16)

    def long(self) -> TypedStorage:
        """Return a storage with the elements converted to int64."""
        return self._to(_C.int64)

    def int(self) -> TypedStorage:
        """Return a storage with the elements converted to int32."""
        return self._to(_C.int32)

    def short(self) -> TypedStorage:
        """Return a storage with the elements converted to int16."""
        return self._to(_C.int16)

    def char(self) -> TypedStorage:
        """Return a storage with the elements converted to int8."""
        return self._to(_C.int8)

    def bfloat16(self) -> TypedStorage:
        """Return a storage with the elements converted to bfloat16."""
        return self._to(_C.bfloat16)

    def byte(self) -> TypedStorage:
        """Return a storage with the elements converted to uint8."""
        return self._to(_C.uint8)

    def bool(self) -> TypedStorage:
        """Return a storage with the elements converted to bool."""
        return self._to(_C.bool)

    def type(self) -> str:
        """Return the name of the storage's type, such as ``"torch.FloatStorage"`` or ``"torch.cuda.FloatStorage"``."""
        return f"torch.{'cuda.' if self.is_cuda else ''}{_STORAGE_NAMES[self.dtype]}"

    def pickle_storage_type(self) -> str:
        """Return the name of the class for storages of this dtype in a saved file."""
        return _STORAGE_NAMES[self.dtype]

    _pickle_storage_type = pickle_storage_type

    def __eq__(self, other: object) -> Any:
        return isinstance(other, TypedStorage) and self._cdata == other._cdata and self.dtype == other.dtype

    def __hash__(self) -> Any:
        return hash((self._cdata, self.dtype))

    def __sizeof__(self) -> Any:
        return object.__sizeof__(self) + self.nbytes()

    def __copy__(self) -> TypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[Any, Any]) -> TypedStorage:
        return self._new(self._untyped_storage.__deepcopy__(memo))

    def __reduce__(self) -> Any:
        return _typed_storage, (self._untyped_storage, self.dtype)

    def __str__(self) -> str:
        text = "\n ".join(map(str, self.tolist()))
        return f" {text}\n[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}]"

    def __repr__(self) -> str:
        return str(self)


def _typed_storage(untyped: UntypedStorage, dtype: Any) -> TypedStorage:
    return TypedStorage(wrap_storage=untyped, dtype=dtype, _internal=True)


class _LegacyStorageMeta(type):
    """Makes a TypedStorage an instance of the class that is named after its dtype and stands for its device."""

    _device = "cpu"

    def __instancecheck__(cls, instance: Any) -> _bool:
        dtype = getattr(cls, "dtype", None)
        if type(instance) is not cls and type(instance) is not TypedStorage:
            return False
        return dtype is None or (instance.dtype == dtype and instance.is_cuda == (cls._device == "cuda"))


class _LegacyStorage(TypedStorage, metaclass=_LegacyStorageMeta):
    """The base class of ``torch.FloatStorage`` and the other classes with a dtype in the name."""

    _device = "cpu"

    def __init__(self, *args: Any, wrap_storage: Any = None, **kwargs: Any) -> None:
        _warn_typed_storage_removal()
        if wrap_storage is not None and wrap_storage.device.type != self._device:
            raise RuntimeError(
                f"Expected wrap_storage to be on a {self._device} device, but it is on {wrap_storage.device}"
            )
        super().__init__(*args, wrap_storage=wrap_storage, device=self._device, _internal=True)


# FloatStorage, LongStorage and so on, the names of storages in files that PyTorch writes.
_LEGACY_CLASSES = {
    name: _LegacyStorageMeta(name, (_LegacyStorage,), {"dtype": dtype, "_device": "cpu", "__module__": "reftorch"})
    for dtype, name in _STORAGE_NAMES.items()
}
# torch.cuda.FloatStorage and its kin. Without a CUDA device, their instances cannot be made.
_CUDA_CLASSES = {
    name: _LegacyStorageMeta(
        name, (_LegacyStorage,), {"dtype": dtype, "_device": "cuda", "__module__": "reftorch.cuda"}
    )
    for dtype, name in _STORAGE_NAMES.items()
}
