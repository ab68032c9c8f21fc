"""How tensors are pickled for another process of the same machine: their memory is shared, not copied.

``multiprocessing`` pickles whatever goes through a queue or a pipe, or to a process that is spawned, with its own
pickler, ``ForkingPickler``. This file registers functions there for tensors, parameters and storages. A tensor becomes
its geometry and its storage; a storage first moves into shared memory, and then becomes a file descriptor or a name.

The receiver maps the memory. A storage that it has mapped already is found again, so that two views of one storage
arrive as views of one storage: see Note [Shared storages] in cpp/c10/core/StorageImpl.h.

The memory of a tensor on a CUDA device stays where it is. The receiver opens it by a handle of CUDA's, and its current
stream waits for the work on the current stream of the thread that pickled the tensor. ``Queue`` pickles in a thread of
its own, whose current stream is the default one. The sender's allocator keeps the memory until the receiver has dropped
the tensor: see Note [CUDA IPC refcounting] in cpp/csrc/cuda/CudaIPCTypes.h.

Mirrors: torch/multiprocessing/reductions.py
Leaves out: sparse and nested tensors; ``shared_cache``, which is a table in C++ here.
"""

from __future__ import annotations

import os
import threading
from multiprocessing import reduction
from typing import Any

from reftorch import _C, _shared_memory, _utils, storage
from reftorch._tensor import Tensor
from reftorch.cuda._device import init
from reftorch.cuda.streams import Event
from reftorch.storage import TypedStorage, UntypedStorage

__all__: list[str] = []


class _Message(threading.local):
    """The file descriptors of the message that this thread is pickling, or has received."""

    descriptors: list[int] | None = None


_message = _Message()


# ---- storages


def reduce_storage(storage: UntypedStorage) -> Any:
    """The call that rebuilds a storage in another process. The storage moves into shared memory."""
    if storage.is_cuda:
        raise RuntimeError("Cannot pickle CUDA storage; try pickling a CUDA tensor instead")
    if storage.device.type != "cpu":
        raise RuntimeError(f"a storage on {storage.device} cannot be sent to another process: send a CPU copy")
    if storage.nbytes() == 0:
        return rebuild_storage_empty, (type(storage),)
    storage.share_memory_()
    if name := storage._shared_name():
        storage._storage._shared_incref()  # for the message; rebuild_storage_filename takes it back
        return rebuild_storage_filename, (type(storage), name, storage.nbytes())
    fd, size = storage._storage._share_fd_cpu_()
    if _message.descriptors is not None:  # the channel of a loader carries the descriptors beside the pickle
        _message.descriptors.append(fd)
        return rebuild_storage_carried, (type(storage), len(_message.descriptors) - 1, size)
    return rebuild_storage_fd, (type(storage), reduction.DupFd(fd), size)


def rebuild_storage_empty(cls: type[UntypedStorage]) -> UntypedStorage:
    """An empty storage has no memory to share."""
    return cls()


def rebuild_storage_fd(cls: type[UntypedStorage], df: Any, size: int) -> UntypedStorage:
    """The storage on the memory behind a file descriptor, which is fetched from the process that sent it."""
    fd = df.detach()
    try:
        return cls._wrap(_C.StorageBase._new_shared_fd_cpu(fd, size))
    finally:
        os.close(fd)


def rebuild_storage_carried(cls: type[UntypedStorage], position: int, size: int) -> UntypedStorage:
    """The storage on the memory behind a file descriptor that came with the message."""
    assert _message.descriptors is not None, "this pickle can only be read by the channel that carried it"
    return cls._wrap(_C.StorageBase._new_shared_fd_cpu(_message.descriptors[position], size))


def rebuild_storage_filename(cls: type[UntypedStorage], name: str, size: int) -> UntypedStorage:
    """The storage on the memory that has a name."""
    _shared_memory.note_arrival(name)
    result = cls._wrap(_C.StorageBase._new_shared_filename_cpu(name, size))
    result._storage._shared_decref()
    return result


def reduce_typed_storage(storage: TypedStorage) -> Any:
    """The call that rebuilds a typed storage in another process."""
    return rebuild_typed_storage, (storage._untyped_storage, storage.dtype)


def rebuild_typed_storage(storage: UntypedStorage, dtype: Any) -> TypedStorage:
    """A typed storage on a storage that has arrived."""
    return TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True)


# ---- tensors


def reduce_tensor(tensor: Tensor) -> Any:
    """The call that rebuilds a tensor in another process."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue)."
        )
    if tensor.is_meta:
        return tensor._reduce_ex_internal()
    if tensor.is_cuda:
        device, handle, size_bytes, offset_bytes, *counter_and_event = tensor.untyped_storage()._share_cuda_()
        return rebuild_cuda_tensor, (
            type(tensor),
            tuple(tensor.size()),
            tensor.stride(),
            tensor.storage_offset(),
            UntypedStorage,
            tensor.dtype,
            device,
            handle,
            size_bytes,
            offset_bytes,
            tensor.requires_grad,
            *counter_and_event,
        )
    geometry = (tensor.storage_offset(), tuple(tensor.size()), tensor.stride(), tensor.requires_grad)
    return rebuild_tensor, (type(tensor), tensor._typed_storage(), geometry)


def rebuild_tensor(cls: type, storage: TypedStorage, metadata: tuple[int, Any, Any, bool]) -> Any:
    """A tensor, or a parameter, on a storage that has arrived."""
    offset, size, stride, requires_grad = metadata
    return _of_class(cls, _utils._rebuild_tensor(storage, offset, size, stride), requires_grad)


def rebuild_cuda_tensor(
    tensor_cls: type,
    tensor_size: tuple[int, ...],
    tensor_stride: tuple[int, ...],
    tensor_offset: int,
    storage_cls: type[UntypedStorage],
    dtype: Any,
    storage_device: int,
    storage_handle: bytes | None,
    storage_size_bytes: int,
    storage_offset_bytes: int,
    requires_grad: bool,
    ref_counter_handle: bytes,
    ref_counter_offset: int,
    event_handle: bytes,
    event_sync_required: bool,
) -> Any:
    """A tensor, or a parameter, on the memory of a CUDA device that another process has allocated."""
    init()
    if storage_handle is None:
        storage = storage_cls(0, device=f"cuda:{storage_device}")
    elif known := _C._cuda_receivedStorage(storage_handle, storage_offset_bytes):
        storage = storage_cls._wrap(known)
        # The storage holds the memory by the counter of its own message, so this message's counter is not needed.
        storage_cls._release_ipc_counter_cuda(ref_counter_handle, ref_counter_offset)
    else:
        storage = storage_cls._new_shared_cuda(
            storage_device,
            storage_handle,
            storage_size_bytes,
            storage_offset_bytes,
            ref_counter_handle,
            ref_counter_offset,
            event_handle,
            event_sync_required,
        )
    typed = TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True)
    tensor = _utils._rebuild_tensor(typed, tensor_offset, tensor_size, tensor_stride)
    return _of_class(tensor_cls, tensor, requires_grad)


def _of_class(cls: type, tensor: Tensor, requires_grad: bool) -> Any:
    if cls is not Tensor:  # Parameter
        return cls(tensor, requires_grad=requires_grad)
    tensor.requires_grad = requires_grad
    return tensor


# ---- events


def reduce_event(event: Event) -> Any:
    """The call that opens an event of a CUDA device in another process."""
    handle = event.ipc_handle()
    return rebuild_event, (event.device, handle)


def rebuild_event(device: Any, handle: bytes) -> Event:
    """An event of another process."""
    return Event.from_ipc_handle(device, handle)


def init_reductions() -> None:
    """Teach the pickler of ``multiprocessing`` how storages and tensors are sent."""
    from reftorch.nn.parameter import Parameter

    reduction.register(Event, reduce_event)
    reduction.register(UntypedStorage, reduce_storage)
    for cls in (TypedStorage, *storage._LEGACY_CLASSES.values()):
        reduction.register(cls, reduce_typed_storage)
    reduction.register(Tensor, reduce_tensor)
    reduction.register(Parameter, reduce_tensor)
