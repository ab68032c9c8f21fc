"""The memory that each line of a program makes, and what of it is kept: by the program, or by a graph for backward.

Mirrors: torch/cuda/_memory_viz.py, for the CPU, and with lines of Python alone
Left out: memory that an op uses while it runs, and frees; tensors that were made before the block.
"""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass
from typing import Any

from reftorch import _C
from reftorch._thread_local import ThreadLocal
from reftorch.debug.common.flatten import flatten
from reftorch.debug.common.ops import Line, Observer, calling_lines
from reftorch.debug.common.table import Report, Table, bytes_text, counted
from reftorch.debug.model.memory_snapshot import add_saved, has_memory, storage_of

MOST_ROWS = 30


@dataclass
class LineMemory:
    """The storages that one line made: their number, their bytes, and the bytes left at the end of the block."""

    line: Line
    storages: int = 0
    made: int = 0
    kept: int = 0


class memory_by_line(Report, Observer):
    """Record which lines of a block make how much memory, and how much of that is kept at its end.

    After a forward pass, the memory that a line keeps is mostly what the graph saved for backward. The report lists the
    lines by kept bytes, then by made bytes. A line is the innermost one outside of the library; an op of ``backward``
    counts for the line that calls ``backward``. Memory that was made before the block is not listed, and tensors on
    meta have none. Threads that start in the block are watched, too.

    Attributes:
        lines: the :class:`LineMemory` of each line; empty until the block ends.

    Raises:
        RuntimeError: (on entering) a profiler, or another block that watches ops, is running.

    Example:
        >>> from reftorch.debug import memory_by_line
        >>> x = torch.ones(1000, requires_grad=True)
        >>> with memory_by_line() as used:
        ...     y = (x * 2).exp().sum()
        >>> (row,) = used.lines
        >>> row.made, row.kept  # three tensors; the graph keeps the result of exp
        (8004, 4004)
    """

    def __init__(self) -> None:
        self.lines: list[LineMemory] = []
        self._by_line: dict[Line, LineMemory] = {}
        self._makers: dict[int, tuple[LineMemory, int]] = {}  # by address: who made the storage there, and its bytes
        self._inside: dict[int, tuple[LineMemory, int]] = {}  # the same for ops inside a composite one
        self._threads = ThreadLocal()

    def __enter__(self) -> memory_by_line:
        self.observe()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.look_away()
        gc.collect()
        alive = living_storages()
        for address, (row, nbytes) in self._makers.items():
            row.kept += nbytes if alive.get(address) == nbytes else 0
        for address, (row, nbytes) in self._inside.items():
            if alive.get(address) == nbytes:  # a graph keeps what was made inside a composite op
                row.storages += 1
                row.made += nbytes
                row.kept += nbytes
        self.lines = sorted(self._by_line.values(), key=lambda row: (-row.kept, -row.made))
        self._makers.clear()
        self._inside.clear()

    def _running(self) -> list[set[int]]:
        """Return, for each op that runs in this thread, the storages of the arguments of the outermost one."""
        if not hasattr(self._threads, "running"):
            self._threads.running = []
        running: list[set[int]] = self._threads.running
        return running

    def start(self, op: str, arguments: tuple) -> None:
        running = self._running()
        given = running[0] if running else {t._storage_data_ptr() for _, t in flatten(arguments, "") if has_memory(t)}
        running.append(given)

    def end(self, op: str, results: tuple | None) -> None:
        running = self._running()
        if not running:
            return  # the op has begun before the block
        given = running.pop()
        if results is None:
            return
        made = {t._storage_data_ptr(): t._storage_nbytes() for _, t in flatten(results, "") if has_memory(t)}
        for address, nbytes in made.items():
            if address not in given:  # a view, or an op in place, makes nothing
                inner, user = calling_lines(sys._getframe(1))
                row = self._by_line.setdefault(user or inner, LineMemory(user or inner))
                # The address is one of freed memory, if an earlier op has made a storage there.
                self._makers.pop(address, None)
                self._inside[address] = (row, nbytes)
                if not running:
                    del self._inside[address]
                    self._makers[address] = (row, nbytes)
                    row.storages += 1
                    row.made += nbytes

    def tables(self) -> list[Table]:
        rows = [(bytes_text(row.kept), bytes_text(row.made), row.storages, str(row.line)) for row in self.lines]
        kept, made = sum(row.kept for row in self.lines), sum(row.made for row in self.lines)
        caption = f"memory by line: {bytes_text(made)} made, {bytes_text(kept)} of it kept"
        notes = [f"({counted(len(rows) - MOST_ROWS, 'line')} more)"] if len(rows) > MOST_ROWS else []
        return [Table(["kept", "made", "storages", "line"], rows[:MOST_ROWS], caption, notes)]


def living_storages() -> dict[int, int]:
    """Return the address and the bytes of each storage that a tensor of Python, its gradient or a graph holds."""
    tensors = [obj for obj in gc.get_objects() if issubclass(type(obj), _C.TensorBase) and has_memory(obj)]
    tensors += [tensor.grad for tensor in tensors if tensor.is_leaf and tensor.grad is not None]
    storages: dict[int, Any] = {}
    for tensor in tensors:
        storage_of(storages, tensor)
    add_saved(storages, tensors)
    return {address: storage.nbytes for address, storage in storages.items()}
