"""Making and ending groups.

Mirrors: torch/distributed/distributed_c10d.py (``init_process_group``, ``destroy_process_group``, ``new_group``)
Leaves out: lazy connections of gloo.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import socket
import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from reftorch._C import _distributed_c10d
from reftorch._C import device as torch_device
from reftorch._C._distributed_c10d import PrefixStore, ProcessGroup, ProcessGroupGloo, Store, TCPStore
from reftorch.distributed._backends.mpi import ProcessGroupMPI
from reftorch.distributed.constants import default_pg_nccl_timeout, default_pg_timeout
from reftorch.distributed.distributed_c10d.backends import Backend, BackendConfig, is_backend_available
from reftorch.distributed.distributed_c10d.devices import _ProcessGroupOfDevices
from reftorch.distributed.distributed_c10d.world import (
    GroupMember,
    _get_default_group,
    _world,
)
from reftorch.distributed.elastic.multiprocessing.errors import write_error_file
from reftorch.distributed.rendezvous import rendezvous

__all__ = [
    "destroy_process_group",
    "init_process_group",
    "new_group",
]

# Set by the launcher under a debugger: a rank that is stopped at a breakpoint must not end the others.
_NO_TIMEOUTS = "REFTORCH_DISTRIBUTED_NO_TIMEOUTS"


def _checked_timeout(timeout: timedelta | None, default: timedelta | None = default_pg_timeout) -> timedelta:
    if timeout is None:
        timeout = default_pg_timeout if default is None else default
    if not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    return timedelta(days=365) if os.environ.get(_NO_TIMEOUTS) == "1" else timeout


def _hostname(store: Store) -> str:
    """Return the address at which other ranks reach this process, which depends on where they are.

    ``GLOO_SOCKET_IFNAME`` names a network interface. Otherwise the address is that of the interface that leads to the
    store, and the loopback if the store is in this process or in a file.
    """
    interface = os.environ.get("GLOO_SOCKET_IFNAME")
    if interface:
        return _address_of(interface)
    while isinstance(store, PrefixStore):
        store = store.underlying_store
    if not isinstance(store, TCPStore) or store.host == "localhost" or store.host.startswith("127."):
        return "127.0.0.1"
    # On the machine of the store, its name may stand for the loopback: then any other address shows the way out.
    for host, port in ((store.host, store.port), ("192.0.2.1", 9)):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect((host, port))  # sends nothing: it chooses the interface
            except OSError:
                continue
            address = str(probe.getsockname()[0])
        if not address.startswith("127."):
            return address
    # A machine whose name stands for the loopback, and which has no way out: the first interface with an address.
    for _, name in socket.if_nameindex():
        with contextlib.suppress(ValueError):
            address = _address_of(name)
            if not address.startswith("127."):
                return address
    return socket.gethostname()


def _address_of(interface: str) -> str:
    import fcntl
    import struct

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            answer = fcntl.ioctl(probe.fileno(), 0x8915, struct.pack("256s", interface[:15].encode()))  # SIOCGIFADDR
        except OSError as error:
            raise ValueError(f"GLOO_SOCKET_IFNAME: there is no interface {interface!r} with an address") from error
    return socket.inet_ntoa(answer[20:24])


def _check_available(backend: Backend) -> None:
    """Check that groups of a backend can be made.

    Raises:
        RuntimeError: the backend is one of PyTorch's that is missing here.
        ValueError: there is no such backend.
    """
    if is_backend_available(backend):
        return
    missing = {
        Backend.NCCL: "NCCL built in. Hint: 'nccl' needs CUDA devices; REFTORCH_CUDA_SIM=2 in the environment gives a "
        "Debug build two simulated ones, and 'gloo' is for tensors on the CPU",
        Backend.MPI: "MPI built in. Hint: the backend calls the package mpi4py, which is not installed: "
        "pip install mpi4py mpich",
        Backend.UCC: "UCC built in. Hint: 'gloo' is for tensors on the CPU",
        Backend.XCCL: "XCCL built in. Hint: 'gloo' is for tensors on the CPU",
    }
    if backend not in missing:
        raise ValueError(f"Invalid backend: '{backend}'. Hint: 'gloo' is for tensors on the CPU")
    raise RuntimeError(f"Distributed package doesn't have {missing[backend]}")


def _make_backend(
    kind: Backend, store: Store, ranks: list[int], rank: int, timeout: timedelta, options: Any
) -> ProcessGroup:
    """Make a group of one backend. For the arguments see :func:`_make_group`."""
    plugin = Backend._plugins.get(kind.upper())
    if plugin is not None:
        if plugin.extended_api:
            raise NotImplementedError("init_process_group: backends of the extended API do not exist here")
        return plugin.creator(store, rank, len(ranks), timeout)
    if kind == Backend.MPI:
        return ProcessGroupMPI(store, rank, len(ranks), timeout)
    if kind == Backend.NCCL:
        options = _distributed_c10d.ProcessGroupNCCL.Options() if options is None else options
        if not isinstance(options, _distributed_c10d.ProcessGroupNCCL.Options):
            raise AssertionError("Expected backend_options argument to be of type ProcessGroupNCCL.Options")
        options._timeout = timeout
        options.global_ranks_in_group = ranks
        return _distributed_c10d.ProcessGroupNCCL(store, rank, len(ranks), options)
    return ProcessGroupGloo(store, rank, len(ranks), timeout, _hostname(store))


def _make_group(
    backend: Backend,
    store: Store,
    ranks: list[int],
    rank: int,
    timeout: timedelta | None,
    name: str,
    desc: str,
    options: Any = None,
) -> ProcessGroup:
    """Make a group of the global ``ranks``, in which this process has the rank ``rank``, and register it."""
    kinds = BackendConfig(backend).get_device_backend_map()
    for kind in sorted(set(kinds.values())):
        _check_available(kind)
    if options is not None and Backend.NCCL not in kinds.values():
        raise NotImplementedError(f"pg_options are those of nccl here; for {backend} expected None")
    store = PrefixStore(name, store)

    def make(kind: Backend, store: Store) -> ProcessGroup:
        default = default_pg_nccl_timeout if kind == Backend.NCCL else default_pg_timeout
        own = options if kind == Backend.NCCL else None
        return _make_backend(kind, store, ranks, rank, _checked_timeout(timeout, default), own)

    if len(kinds) == 1 or len(set(kinds.values())) == 1:
        pg = make(next(iter(kinds.values())), store)
    else:
        parts = {device: make(kind, PrefixStore(device, store)) for device, kind in kinds.items()}
        pg = _ProcessGroupOfDevices(rank, len(ranks), parts)
    pg._set_group_name(name)
    pg._set_group_desc(desc)
    _world.pg_map[pg] = (next(iter(kinds.values())) if backend == Backend.UNDEFINED else backend, store)
    _world.pg_names[pg] = name
    _world.pg_group_ranks[pg] = {global_rank: i for i, global_rank in enumerate(ranks)}
    return pg


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Store | None = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: torch_device | int | None = None,
    _ranks: list[int] | None = None,
) -> None:
    """Make the default group, of all processes; return when all have come.

    Args:
        backend: ``"gloo"`` for tensors on the CPU, which takes those of CUDA devices by way of the CPU; ``"nccl"`` for
            CUDA devices; ``"cpu:gloo,cuda:nccl"`` for each of them the better one; ``"mpi"`` for a program under
            mpiexec. None stands for ``"nccl"`` where there are CUDA devices, and for ``"gloo"`` elsewhere.
        init_method: a URL, see :mod:`reftorch.distributed.rendezvous`; ``"env://"`` if neither this nor ``store`` is
            given.
        timeout: how long an operation may take; if None half an hour, and ten minutes with nccl. Under a debugger,
            the launcher lifts it.
        world_size: the number of processes; needed with ``store``.
        rank: the number of this process; needed with ``store``.
        store: where the processes find each other.
        group_name: has no effect, as in PyTorch.
        pg_options: ``ProcessGroupNCCL.Options`` for nccl, otherwise None.
        device_id: the CUDA device of this process, on which a barrier runs.

    Raises:
        ValueError: there is a default group already, or the backend is unknown, or the environment lacks a variable.
        RuntimeError: the backend is not built in.
        DistNetworkError, DistStoreError: the store or a rank does not answer in time.

    Example:
        >>> import reftorch.distributed as dist
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.get_rank(), dist.get_world_size(), dist.get_backend()
        (0, 1, 'gloo')
        >>> dist.destroy_process_group()

    Mirrors torch/distributed/distributed_c10d.py, ``init_process_group``.
    """
    if _world.default_pg is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    limit = _checked_timeout(timeout)
    kind = Backend(backend or Backend.UNDEFINED)
    if kind == Backend.MPI and store is None and init_method is None and world_size == -1 and rank == -1:
        _check_available(kind)
        store, rank, world_size = ProcessGroupMPI._world()
    if store is not None:
        if world_size <= 0:
            raise AssertionError("world_size must be positive if using store")
        if rank < 0:
            raise AssertionError("rank must be non-negative if using store")
    else:
        store, rank, world_size = next(rendezvous(init_method or "env://", rank, world_size, timeout=limit))
        store.set_timeout(limit)
        store = PrefixStore("default_pg", store)
    ranks = list(range(world_size))
    _world.default_pg = _make_group(kind, store, ranks, rank, timeout, "0", "default_pg", pg_options)
    if device_id is not None and hasattr(_world.default_pg, "_set_bound_device"):
        index = device_id if isinstance(device_id, int) else device_id.index
        if index is None:
            raise ValueError("init_process_group device_id parameter must be an accelerator with an index")
        _world.default_pg._set_bound_device(index)
        _world.bound_devices[_world.default_pg] = index
    _world.store = store
    _install_excepthook(rank)
    atexit.register(_abort_all)  # again after each call: it is called once


def _abort_all() -> None:
    """End the connections of all groups, so that no thread of a group waits while the process ends."""
    for pg in list(_world.pg_map):
        pg.abort()


def _install_excepthook(rank: int) -> None:
    """Let an uncaught exception be printed with the rank before each line, and be known to the launcher."""
    before = sys.excepthook
    if getattr(before, "_is_of_distributed", False):
        return

    def hook(kind: Any, value: Any, trace: Any) -> None:
        write_error_file(value)
        stderr, sys.stderr = sys.stderr, io.StringIO()
        try:
            before(kind, value, trace)
            text = sys.stderr.getvalue()
        finally:
            sys.stderr = stderr
        sys.stderr.write("".join(f"[rank{rank}]: {line}\n" if line else "\n" for line in text.splitlines()))
        sys.stderr.flush()

    hook._is_of_distributed = True  # type: ignore[attr-defined]
    sys.excepthook = hook


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """End a group when its operations have ended.

    Args:
        group: the default group if None; all other groups are ended with it.

    Raises:
        ValueError: the group is unknown, or was destroyed before.

    Mirrors torch/distributed/distributed_c10d.py, ``destroy_process_group``.
    """
    if group is not None and group == GroupMember.NON_GROUP_MEMBER:
        return
    pg = _world.default_pg if group is None else group
    if pg is None or pg not in _world.pg_map:
        raise ValueError("Invalid process group specified")
    every = pg is _world.default_pg
    for each in list(_world.pg_map) if every else [pg]:
        each.shutdown()
        for table in (_world.pg_map, _world.pg_names, _world.pg_group_ranks):
            table.pop(each)
        _world.bound_devices.pop(each, None)
        _world.split_counts.pop(each, None)
    if every:
        _world.default_pg, _world.store, _world.group_count = None, None, 0


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: torch_device | None = None,
    sort_ranks: bool = True,
) -> ProcessGroup | int:
    """Make a group of some ranks. All ranks of the default group must call this function, in the same order.

    Args:
        ranks: the global ranks of the members; all ranks if None.
        timeout: how long an operation may take; half an hour if None.
        backend: that of the default group if None.
        pg_options: see :func:`init_process_group`.
        use_local_synchronization: whether only the members call the function.
        group_desc: a description.
        device_id: has no effect.
        sort_ranks: whether the members are numbered in the order of their global ranks, or in the order of ``ranks``.

    Returns:
        The group, or ``GroupMember.NON_GROUP_MEMBER`` if this process is not a member.

    Raises:
        ValueError: a rank does not exist, or is named twice.

    Mirrors torch/distributed/distributed_c10d.py, ``new_group``.
    """
    default = _get_default_group()
    kind = Backend(backend) if backend else Backend(_world.pg_map[default][0])
    world_size = default.size()
    if ranks is None:
        members = list(range(world_size))
    else:
        members = sorted(ranks) if sort_ranks else list(ranks)
        if len(set(members)) != len(members):
            raise ValueError(f"ranks list must not contain duplicate entries, got {members}")
        if len(members) > world_size:
            raise ValueError(
                "the new group's world size should be less or equal to the world size set by init_process_group"
            )
        for member in members:
            if member < 0 or member >= world_size:
                raise ValueError(
                    f"Rank {member} is out of range. Valid ranks are 0 to {world_size - 1} (world_size={world_size})"
                )
    if use_local_synchronization:  # other ranks do not count this call, so the name cannot be a number
        same = sum(_world.pg_names[pg].startswith(f"ranks_{members}") for pg in _world.pg_names)
        name = f"ranks_{members}_{same}"
    else:
        _world.group_count += 1
        name = str(_world.group_count)
    if default.rank() not in members:
        return GroupMember.NON_GROUP_MEMBER
    rank = members.index(default.rank())
    return _make_group(kind, _world.store, members, rank, timeout, name, group_desc or "undefined", pg_options)
