"""A group with one backend for each type of device: ``"cpu:gloo,cuda:nccl"``.

Mirrors: torch/csrc/distributed/c10d/ProcessGroup.cpp (the map of backends), torch/distributed/distributed_c10d.py
(``_get_object_coll_device``)
Leaves out: backends that are registered later.
"""

# mypy: disable-error-code="override"
from __future__ import annotations

from datetime import timedelta
from typing import Any

from reftorch._C import device as torch_device
from reftorch._C._distributed_c10d import ProcessGroup, Work
from reftorch._tensor import Tensor

__all__: list[str] = []


def _first_tensor(values: Any) -> Tensor | None:
    """Return the first tensor in nested lists, or None."""
    if isinstance(values, Tensor):
        return values
    for value in values if isinstance(values, (list, tuple)) else ():
        found = _first_tensor(value)
        if found is not None:
            return found
    return None


class _ProcessGroupOfDevices(ProcessGroup):
    """Hands each call to the backend of the tensors' device.

    Args:
        rank: of this process.
        size: the number of processes.
        backends: the groups, by type of device.
    """

    def __init__(self, rank: int, size: int, backends: dict[str, ProcessGroup]) -> None:
        name = ",".join(f"{device}:{backend.name()}" for device, backend in backends.items())
        super().__init__(rank, size, name, list(backends))
        self._backends = backends

    def _get_backend(self, device: Any) -> ProcessGroup:
        backend = self._backends.get(torch_device(device).type)
        if backend is None:
            raise RuntimeError(f"No backend type associated with device type {torch_device(device).type}")
        return backend

    def _of(self, *values: Any) -> ProcessGroup:
        tensor = _first_tensor(values)
        return self._of_host() if tensor is None else self._get_backend(tensor.device)

    def _of_host(self) -> ProcessGroup:
        """Return the backend for calls without a tensor: that of the CPU, if there is one."""
        return self._backends.get("cpu") or next(iter(self._backends.values()))

    def recv_anysource(self, tensors: list[Tensor], tag: int) -> Work:
        return self._of(tensors).recv_anysource(tensors, tag)

    def barrier(self, opts: Any) -> Work:
        # On every device: works that run on streams have ended, too, when the barrier has.
        works = [backend.barrier(opts) for backend in self._backends.values()]
        for work in works[:-1]:
            work.wait()
        return works[-1]

    def monitored_barrier(self, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
        self._of_host().monitored_barrier(timeout, wait_all_ranks)

    def _start_coalescing(self, device: Any = None) -> None:
        self._get_backend(device)._start_coalescing(device)

    def _end_coalescing(self, device: Any = None) -> Work:
        return self._get_backend(device)._end_coalescing(device)

    def _set_bound_device(self, device: int) -> None:
        self._get_backend("cuda")._set_bound_device(device)

    def _describe_ranks(self, timeout: timedelta) -> dict[int, str]:
        return self._of_host()._describe_ranks(timeout)

    def _stacks_of_ranks(self, timeout: timedelta) -> dict[int, str]:
        return self._of_host()._stacks_of_ranks(timeout)

    def _note_times(self, on: bool) -> None:
        self._of_host()._note_times(on)

    def _take_times(self) -> list[Any]:
        return self._of_host()._take_times()

    def set_timeout(self, timeout: timedelta) -> None:
        for backend in self._backends.values():
            backend.set_timeout(timeout)

    _set_default_timeout = set_timeout

    def abort(self) -> None:
        for backend in self._backends.values():
            backend.abort()

    def shutdown(self) -> None:
        for backend in self._backends.values():
            backend.shutdown()


def _handed_on(name: str) -> Any:
    def call(self: _ProcessGroupOfDevices, *args: Any) -> Work:
        return getattr(self._of(*args), name)(*args)

    call.__name__ = name
    return call


for _name in ("allreduce", "allreduce_coalesced", "broadcast", "reduce", "allgather", "allgather_coalesced",
              "_allgather_base", "gather", "scatter", "reduce_scatter", "_reduce_scatter_base", "alltoall",
              "alltoall_base", "send", "recv"):  # fmt: skip
    setattr(_ProcessGroupOfDevices, _name, _handed_on(_name))


def _get_object_coll_device(group: ProcessGroup) -> torch_device:
    """Return the device for the bytes of objects: the CPU, if the group has a backend for it."""
    types = group._device_types
    return torch_device("cpu") if torch_device("cpu") in types else types[0]
