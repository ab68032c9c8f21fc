"""The memory that tensors share, as Python sees it: bytes, or numbers of one dtype.

Mirrors: torch/storage.py
Leaves out: sending memory to processes that are no children, pinned memory, files. This file is a little over 500
lines long, because both classes of storages stand side by side, as in PyTorch.
"""

from __future__ import annotations

import ctypes
from builtins import bool as _bool  # inside of a class `bool` and `int` are methods
from builtins import int as _int
from collections.abc import Iterator
from typing import Any

from reftorch import _C
from reftorch._utils import _warn_once

__all__ = ["TypedStorage", "UntypedStorage"]


class UntypedStorage:
    """The memory behind tensors: bytes with an address.

    Args:
        size: how many bytes, with any content; or a sequence of numbers from 0 to 255, which are the content.
        device: where; only the CPU.

    Example:
        >>> import reftorch as torch
        >>> x = torch.zeros(2, dtype=torch.int16)
        >>> x.untyped_storage()[1] = 1
        >>> x
        tensor([256,   0], dtype=torch.int16)

    Mirrors torch/storage.py, ``UntypedStorage``.
    """

    _storage: _C.StorageBase

    def __init__(self, size: Any = 0, *, device: Any = None) -> None:
        if device is not None and _C.device(device).type != "cpu":
            raise RuntimeError(f"UntypedStorage: expected device 'cpu', got '{device}'")
        if isinstance(size, int):
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
        """Whether both are the same memory: where PyTorch has one object for it, each question here makes one."""
        return isinstance(other, UntypedStorage) and self._cdata == other._cdata

    def __hash__(self) -> int:
        return hash(self._cdata)

    def _check_memory(self) -> None:
        if self.device.type == "meta":
            raise NotImplementedError("Not available for 'meta' device type")

    def _bytes(self) -> Any:
        """All of the memory as a tensor."""
        self._check_memory()
        return self._storage.tensor(_C.uint8)

    def _memory(self) -> memoryview:
        """All of the memory, to be read or written in place."""
        self._check_memory()
        if self.nbytes() == 0:
            return memoryview(bytearray())
        return memoryview((ctypes.c_char * self.nbytes()).from_address(self.data_ptr())).cast("B")

    @classmethod
    def from_buffer(cls, buffer: Any, *args: Any, **kwargs: Any) -> UntypedStorage:
        """A copy of the bytes of an object with Python's buffer protocol.

        Example:
            >>> import reftorch as torch
            >>> torch.UntypedStorage.from_buffer(b"ab", dtype=torch.uint8).tolist()
            [97, 98]
        """
        return cls(bytearray(buffer))

    @property
    def _cdata(self) -> int:
        return self._storage.cdata()

    @property
    def device(self) -> _C.device:
        """Where the memory is."""
        return self._storage.device()

    @property
    def is_cuda(self) -> bool:
        """Whether the memory is a GPU's: never."""
        return False

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
        """1: the elements are bytes."""
        return 1

    def resizable(self) -> bool:
        """Whether the memory is the library's own, and can grow."""
        return self._storage.resizable()

    def is_shared(self) -> bool:
        """Whether the memory goes on being shared with processes that are forked."""
        return self._storage.is_shared()

    def share_memory_(self) -> UntypedStorage:
        """Move the bytes into shared memory, under every tensor that lies on them: a process forked from now on reads
        what this one writes, and the other way round. The storage cannot be resized any more.

        Mirrors torch/storage.py (share_memory_); memory that is sent to processes that exist already is left out.
        """
        self._storage.share_memory_()
        return self

    def is_pinned(self, device: Any = None) -> bool:
        """Whether the memory is pinned: never."""
        return False

    def resize_(self, size: int) -> UntypedStorage:
        """Give the storage ``size`` bytes; what it held stays, as far as there is room.

        A tensor on this storage keeps its shape. If its elements no longer fit, every access to them raises a
        RuntimeError until the storage is large enough again.

        Raises:
            RuntimeError: the memory belongs to another library, or another library looks at it (numpy, DLPack).
        """
        self._storage.resize_(size)
        return self

    def __len__(self) -> int:
        return self.nbytes()

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __getitem__(self, index: Any) -> Any:
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
        """The bytes as numbers."""
        return self._bytes().tolist()

    def fill_(self, value: int) -> UntypedStorage:
        """Set every byte."""
        self._bytes().fill_(value)
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> UntypedStorage:
        """Overwrite the bytes with those of another storage of the same size."""
        self._bytes().copy_(source.untyped()._bytes())
        return self

    def clone(self) -> UntypedStorage:
        """A copy in memory of its own."""
        return self._wrap(_C.StorageBase._of(self._bytes().clone()))

    def new(self) -> UntypedStorage:
        """An empty storage."""
        return type(self)()

    def untyped(self) -> UntypedStorage:
        """The storage itself."""
        return self

    def cpu(self) -> UntypedStorage:
        """The storage itself: it is there already."""
        return self

    def __copy__(self) -> UntypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[Any, Any]) -> UntypedStorage:
        # One copy of the memory for all tensors of one deepcopy, whose storage objects differ.
        copies = memo.setdefault("torch", {})
        if self._cdata not in copies:
            copies[self._cdata] = self.clone()
        return copies[self._cdata]

    def __reduce__(self) -> Any:
        return UntypedStorage, (bytes(self._memory()),)

    def __str__(self) -> str:
        text = "..." if self.device.type == "meta" else " " + "\n ".join(map(str, self.tolist()))
        return f"{text}\n[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"

    def __repr__(self) -> str:
        return str(self)


def _byte(item: Any, sequence: Any) -> int:
    """The last eight bits of a number."""
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


def _warn_typed_storage_removal() -> None:
    _warn_once(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage "
        "class. This should only matter to you if you are using storages directly.  To access UntypedStorage "
        "directly, use tensor.untyped_storage() instead of tensor.storage()"
    )


class TypedStorage:
    """A storage whose elements are numbers: what :meth:`reftorch.Tensor.storage` gives; deprecated, as in PyTorch.

    Args:
        args: nothing, a size, or a sequence of numbers.
        wrap_storage: the memory to read.
        dtype: the type of the elements.

    Example:
        >>> import reftorch as torch
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
            values = _C.tensor(list(args[0]), dtype=self.dtype)
            self._untyped_storage = UntypedStorage._wrap(_C.StorageBase._of(values))

    def _tensor(self) -> Any:
        return self._untyped_storage._storage.tensor(self.dtype)

    def _new(self, untyped: UntypedStorage) -> TypedStorage:
        return TypedStorage(wrap_storage=untyped, dtype=self.dtype, _internal=True)

    @classmethod
    def from_buffer(cls, buffer: Any, byte_order: str | None = None, **kwargs: Any) -> TypedStorage:
        """A copy of the bytes of an object with Python's buffer protocol, read as numbers."""
        return cls(wrap_storage=UntypedStorage.from_buffer(buffer), **kwargs)

    @property
    def device(self) -> _C.device:
        """Where the memory is."""
        return self._untyped_storage.device

    @property
    def is_cuda(self) -> _bool:
        """Whether the memory is a GPU's: never."""
        return False

    @property
    def _cdata(self) -> _int:
        return self._untyped_storage._cdata

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
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
        """Whether the memory is the library's own, and can grow."""
        return self._untyped_storage.resizable()

    def resize_(self, size: _int) -> None:
        """Give the storage room for ``size`` elements."""
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
        """The elements as Python's numbers."""
        return self._tensor().tolist()

    def fill_(self, value: Any) -> TypedStorage:
        """Set every element."""
        self._tensor().fill_(value)
        return self

    def copy_(self, source: Any, non_blocking: _bool | None = None) -> TypedStorage:
        """Overwrite the elements with those of another storage, converted."""
        self._tensor().copy_(source._tensor() if isinstance(source, TypedStorage) else source._bytes())
        return self

    def clone(self) -> TypedStorage:
        """A copy in memory of its own."""
        return self._new(self._untyped_storage.clone())

    def cpu(self) -> TypedStorage:
        """The storage itself: it is there already."""
        return self

    def is_shared(self) -> _bool:
        """Whether the memory goes on being shared with processes that are forked."""
        return self._untyped_storage.is_shared()

    def share_memory_(self) -> TypedStorage:
        """Move the bytes into shared memory, see :meth:`UntypedStorage.share_memory_`."""
        self._untyped_storage.share_memory_()
        return self

    def is_pinned(self, device: Any = None) -> _bool:
        """Whether the memory is pinned: never."""
        return False

    def _to(self, dtype: Any) -> TypedStorage:
        converted = self._tensor().to(dtype, copy=True)
        untyped = UntypedStorage._wrap(_C.StorageBase._of(converted))
        return TypedStorage(wrap_storage=untyped, dtype=dtype, _internal=True)

    def double(self) -> TypedStorage:
        """The elements as float64."""
        return self._to(_C.float64)

    def float(self) -> TypedStorage:
        """The elements as float32."""
        return self._to(_C.float32)

    def half(self) -> TypedStorage:
        """The elements as float16."""
        return self._to(_C.float16)

    def long(self) -> TypedStorage:
        """The elements as int64."""
        return self._to(_C.int64)

    def int(self) -> TypedStorage:
        """The elements as int32."""
        return self._to(_C.int32)

    def byte(self) -> TypedStorage:
        """The elements as uint8."""
        return self._to(_C.uint8)

    def bool(self) -> TypedStorage:
        """The elements as bool."""
        return self._to(_C.bool)

    def type(self) -> str:
        """The name of the storage's type, as in ``"torch.FloatStorage"``."""
        return f"torch.{_STORAGE_NAMES[self.dtype]}"

    def pickle_storage_type(self) -> str:
        """The name of the class that a file names for storages of this dtype."""
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
        return f" {text}\n[torch.storage.TypedStorage(dtype={self.dtype}, device=cpu) of size {len(self)}]"

    def __repr__(self) -> str:
        return str(self)


def _typed_storage(untyped: UntypedStorage, dtype: Any) -> TypedStorage:
    return TypedStorage(wrap_storage=untyped, dtype=dtype, _internal=True)


class _LegacyStorageMeta(type):
    """Lets a storage count as an instance of the class that has its dtype in the name."""

    def __instancecheck__(cls, instance: Any) -> _bool:
        dtype = getattr(cls, "dtype", None)
        return type(instance) in (cls, TypedStorage) and (dtype is None or instance.dtype == dtype)


class _LegacyStorage(TypedStorage, metaclass=_LegacyStorageMeta):
    """What ``torch.FloatStorage`` and the like have in common."""

    def __init__(self, *args: Any, wrap_storage: Any = None, **kwargs: Any) -> None:
        _warn_typed_storage_removal()
        super().__init__(*args, wrap_storage=wrap_storage, _internal=True)


# FloatStorage, LongStorage ...: the names that files of PyTorch's know.
_LEGACY_CLASSES = {
    name: _LegacyStorageMeta(name, (_LegacyStorage,), {"dtype": dtype, "__module__": "reftorch"})
    for dtype, name in _STORAGE_NAMES.items()
}
