"""A list of the living tensors by memory, with the counters of the allocator.

Mirrors: torch/cuda/memory.py (``memory_snapshot``), for the CPU and with names
Left out: the place of each allocation; tensors that only C++ can reach, unless a graph saved them.
"""

from __future__ import annotations

import gc
import itertools
import sys
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from reftorch import _C
from reftorch.debug.common.expect import described
from reftorch.debug.common.library import is_lazy
from reftorch.debug.common.names import names_in
from reftorch.debug.common.table import Report, Table, bytes_text, counted, dtype_text, shape_text
from reftorch.debug.notebook.draw_graph import saved_tensors

MOST_ROWS = 30
SNAPSHOTS = itertools.count()


@dataclass
class TensorInfo:
    """A tensor on a storage; ``saved_by`` names the node that keeps it for backward."""

    name: str
    shape: str
    dtype: str
    saved_by: str = ""


@dataclass
class StorageInfo:
    """A storage and the tensors that share it."""

    address: int
    nbytes: int
    sharers: int  # the number of tensors, including those that only C++ knows
    tensors: list[TensorInfo] = field(default_factory=list)
    refs: list[weakref.ref] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The name of the storage for a reader."""
        names = [tensor.name or tensor.saved_by for tensor in self.tensors]
        return next(filter(None, names), "(no name)")

    def still(self, address: int) -> bool:
        """Return whether this storage still exists, and its address was not reused for another one."""
        return any(t is not None and t._storage_data_ptr() == address for t in (ref() for ref in self.refs))

    def rows(self) -> Iterator[tuple]:
        hidden = self.sharers - len([t for t in self.tensors if not t.saved_by])
        for position, tensor in enumerate(self.tensors):
            size = bytes_text(self.nbytes) if position == 0 else ""
            note = f"saved by {tensor.saved_by}" if tensor.saved_by else "shares it" if position else ""
            if position == 0 and hidden > 0 and not any(t.saved_by for t in self.tensors):
                note = f"and {hidden} more that only C++ holds"
            yield (size, tensor.name, tensor.shape, tensor.dtype, note)

    def row(self) -> tuple:
        """Return a short text: the first tensor, and the first node that saved a tensor for backward."""
        first, *others = self.rows()
        saved = [row[-1] for row in (first, *others) if row[-1].startswith("saved by")]
        return (*first[:-1], saved[0] if saved else first[-1])


class MemorySnapshot(Report):
    """The living tensors by storage, the largest first: ``storages``, and the allocator's counters: ``stats``."""

    def __init__(self, storages: list[StorageInfo], stats: dict[str, int]) -> None:
        self.storages = sorted(storages, key=lambda storage: -storage.nbytes)
        self.stats = stats
        self._number = next(SNAPSHOTS)

    @property
    def nbytes(self) -> int:
        """The bytes of all storages."""
        return sum(storage.nbytes for storage in self.storages)

    def diff(self, other: MemorySnapshot) -> MemoryDiff:
        """Return the storages that were allocated and freed between two snapshots, in either order.

        Example:
            >>> from reftorch.debug import memory_snapshot
            >>> before = memory_snapshot()
            >>> activations = torch.ones(256)
            >>> memory_snapshot().diff(before)
            memory: 1 storage new, 0 freed, +1.0 KiB; allocator: +1.0 KiB in use
            change  size     name         shape  dtype
            ------  -------  -----------  -----  -------
            new     1.0 KiB  activations  [256]  float32
        """
        if not isinstance(other, MemorySnapshot):
            raise TypeError(f"memory_snapshot().diff: expected another snapshot, got {described(other)}")
        return MemoryDiff(*sorted((self, other), key=lambda snapshot: snapshot._number))

    def tables(self) -> list[Table]:
        rows = [row for storage in self.storages for row in storage.rows()]
        count = sum(len([t for t in storage.tensors if not t.saved_by]) for storage in self.storages)
        caption = (
            f"memory: {counted(count, 'tensor')} on {counted(len(self.storages), 'storage')}, "
            f"{bytes_text(self.nbytes)}; allocator: {bytes_text(self.stats['allocated_bytes'])} in use, "
            f"{bytes_text(self.stats['cached_bytes'])} kept for reuse"
        )
        notes = [f"({counted(len(rows) - MOST_ROWS, 'row')} more)"] if len(rows) > MOST_ROWS else []
        return [Table(["size", "name", "shape", "dtype", ""], rows[:MOST_ROWS], caption, notes)]


class MemoryDiff(Report):
    """The difference of two snapshots: ``new`` and ``freed`` storages, and ``stats``, the growth of each counter."""

    def __init__(self, before: MemorySnapshot, after: MemorySnapshot) -> None:
        earlier = {storage.address: storage for storage in before.storages}
        stayed = {
            storage.address
            for storage in after.storages
            if storage.address in earlier
            and (earlier[storage.address].still(storage.address) or not earlier[storage.address].refs)
        }
        self.new = [storage for storage in after.storages if storage.address not in stayed]
        self.freed = [storage for storage in before.storages if storage.address not in stayed]
        self.stats = {name: after.stats[name] - before.stats[name] for name in after.stats}

    @property
    def nbytes(self) -> int:
        """The growth of the storages in bytes."""
        return sum(s.nbytes for s in self.new) - sum(s.nbytes for s in self.freed)

    def tables(self) -> list[Table]:
        rows = []
        for sign, storages in (("new", self.new), ("freed", self.freed)):
            rows += [(sign, *storage.row()) for storage in storages]
        in_use = self.stats["allocated_bytes"]
        caption = (
            f"memory: {counted(len(self.new), 'storage')} new, {len(self.freed)} freed, {signed(self.nbytes)}; "
            f"allocator: {signed(in_use)} in use"
        )
        notes = [f"({counted(len(rows) - MOST_ROWS, 'row')} more)"] if len(rows) > MOST_ROWS else []
        return [Table(["change", "size", "name", "shape", "dtype", ""], rows[:MOST_ROWS], caption, notes)]


def signed(count: int) -> str:
    """Return a number of bytes with its sign: '+1.5 KiB'."""
    return f"{'+' if count > 0 else ''}{bytes_text(count)}"


def memory_snapshot(*, graph: bool = True) -> MemorySnapshot:
    """List the living tensors by the memory that they share, with the names by which the caller reaches them.

    The function searches for names in the variables of the caller and of the caller's callers, in models, optimizers
    and containers. A tensor without a name is held by another object: a closure, an instance, an earlier output of a
    notebook.

    Args:
        graph: also list the tensors that graphs saved for backward. This runs the hooks on saved tensors.

    Returns:
        A table, with ``storages`` and the allocator's ``stats``; ``diff`` compares two snapshots.

    Example:
        >>> from reftorch.debug import memory_snapshot
        >>> weights = torch.ones(1000, 1000)
        >>> row = weights[0]
        >>> largest = memory_snapshot().storages[0]
        >>> largest.nbytes, [tensor.name for tensor in largest.tensors]
        (4000000, ['weights', 'row'])
    """
    gc.collect()  # objects that only wait for the garbage collector are not alive
    names = names_in(sys._getframe(1))
    # By type, because reading the class of an object may run code of the object.
    tensors = [obj for obj in gc.get_objects() if issubclass(type(obj), _C.TensorBase) and has_memory(obj)]
    stats = dict(_C._cpu_memory_stats())
    storages: dict[int, StorageInfo] = {}
    order = {key: position for position, key in enumerate(names)}
    for tensor in sorted(tensors, key=lambda t: order.get(id(t), len(order))):
        storage = storage_of(storages, tensor)
        storage.tensors.append(info(tensor, names.get(id(tensor), "")))
        storage.refs.append(weakref.ref(tensor))
    if graph:
        add_saved(storages, tensors)
    return MemorySnapshot(list(storages.values()), stats)


def has_memory(tensor: Any) -> bool:
    """Return whether to list a tensor: not if it is empty, lazy or on meta, nor if it wraps one for a transform."""
    if is_lazy(tensor) or _C._functorch._describe(tensor) is not None:
        return False
    return tensor.device.type != "meta" and tensor._storage_nbytes() > 0


def storage_of(storages: dict[int, StorageInfo], tensor: Any, seen: int = 0) -> StorageInfo:
    """Return the entry of the tensor's storage; this tool itself holds ``seen`` of its references."""
    address = tensor._storage_data_ptr()
    if address not in storages:
        storages[address] = StorageInfo(address, tensor._storage_nbytes(), tensor._storage_use_count() - seen)
    return storages[address]


def info(tensor: Any, name: str, saved_by: str = "") -> TensorInfo:
    return TensorInfo(name, shape_text(tensor.shape), dtype_text(tensor), saved_by)


def add_saved(storages: dict[int, StorageInfo], tensors: list[Any]) -> None:
    """Add the tensors that the graphs of these tensors saved: each tensor whose storage no Python tensor shares, and a
    line for each node that saved a tensor of a shared storage."""
    seen: set[Any] = set()
    pending = [tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None]
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        pending += [child for child, _ in node.next_functions if child is not None]
        for name, value in saved_tensors(node):
            if has_memory(value):
                storage_of(storages, value, seen=1).tensors.append(info(value, "", f"{node.name()} as {name}"))
