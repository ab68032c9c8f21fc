"""What a worker process of a loader runs: it takes indices from its channel and sends batches back.

Mirrors: torch/utils/data/_utils/worker.py
Leaves out: data pipes, worker threads.
"""

from __future__ import annotations

import os
import random
import select
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reftorch import _C, multiprocessing
from reftorch._utils import ExceptionWrapper
from reftorch.utils.data._utils.channel import Channel, _pieces
from reftorch.utils.data._utils.fetch import _DatasetKind, _IterableDatasetFetcher

__all__ = ["WorkerInfo", "get_worker_info"]

MP_STATUS_CHECK_INTERVAL = 5.0  # seconds between two looks whether the loader's process is alive


@dataclass(frozen=True)
class WorkerInfo:
    """The facts that a worker process knows about itself.

    Attributes:
        id: its number, from 0 to ``num_workers - 1``.
        num_workers: the number of workers of the loader.
        seed: the seed of this worker's generators.
        dataset: this worker's copy of the dataset.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Return the :class:`WorkerInfo` of this worker process, or None in another process.

    An iterable dataset uses the answer to yield its share only, because each worker iterates over a copy of its own.

    Example:
        >>> from reftorch.utils.data import DataLoader, IterableDataset, get_worker_info
        >>> class Numbers(IterableDataset):
        ...     def __iter__(self):
        ...         info = get_worker_info()
        ...         return iter(range(info.id, 6, info.num_workers))
        >>> list(DataLoader(Numbers(), batch_size=3, num_workers=2, multiprocessing_context="fork"))
        [tensor([0, 2, 4]), tensor([1, 3, 5])]

    Mirrors torch/utils/data/_utils/worker.py, ``get_worker_info``.
    """
    return _worker_info


# ---- what goes through the channel, beside (number, index) to the worker and (number, batch) back


@dataclass(frozen=True)
class _IterableDatasetStopIteration:
    """The message that a worker sends in place of a batch when its iterable dataset has ended."""

    worker_id: int


@dataclass(frozen=True)
class _ResumeIteration:
    """Tells a persistent worker that a new pass begins. The worker sends the message back when it has read it."""


@dataclass(frozen=True)
class _Task:
    """The part of a worker's task that is the same for every index."""

    dataset_kind: int
    dataset: Any
    auto_collation: bool
    collate_fn: Callable[..., Any]
    drop_last: bool
    base_seed: int
    init_fn: Callable[[int], None] | None
    num_workers: int

    def __post_init__(self) -> None:
        import numpy  # noqa: F401  # before the workers are forked: each of them needs it, in every pass

    def create_fetcher(self) -> Any:
        return _DatasetKind.create_fetcher(
            self.dataset_kind, self.dataset, self.auto_collation, self.collate_fn, self.drop_last
        )


def _seed_everything(base_seed: int, worker_id: int) -> int:
    """Seed Python's, numpy's and our generators, each worker differently. Returns the seed."""
    import numpy  # a dataset may import it later, and finds it seeded

    seed = base_seed + worker_id
    random.seed(seed)
    _C.default_generator.manual_seed(seed)
    # numpy gets another seed than random: their generators are of one kind, and would give the same numbers. A mixer
    # of numpy makes the seed.
    words = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    numpy.random.seed(numpy.random.SeedSequence(words).generate_state(4))
    return seed


def _worker_loop(connection: Any, inherited: list[Channel], task: _Task, worker_id: int) -> None:
    """Serve the loader until it closes the channel, or its process is gone."""
    global _worker_info
    for end in inherited:
        end.close()
    channel = Channel(connection)
    loader_process = os.getppid()
    try:
        multiprocessing._set_thread_name("pt_data_worker")
        _C.set_num_threads(1)  # the workers compute side by side
        seed = _seed_everything(task.base_seed, worker_id)
        _worker_info = WorkerInfo(worker_id, task.num_workers, seed, task.dataset)
        try:
            if task.init_fn is not None:
                task.init_fn(worker_id)
            fetcher = task.create_fetcher()
            broken = None
        except Exception:
            broken = ExceptionWrapper(where=f"in DataLoader worker process {worker_id}")

        while True:
            if not _wait_for_index(channel, loader_process):
                return
            message = channel.recv()
            if isinstance(message, _ResumeIteration):
                fetcher = task.create_fetcher()
                channel.send((message, None))
                continue
            number, index = message
            _send(channel, number, broken if broken else _fetched(fetcher, index, worker_id), worker_id)
            del message, index  # their memory
    except (KeyboardInterrupt, EOFError, ConnectionError):
        pass  # the loader's process was interrupted too; or the loader has closed the channel


def _wait_for_index(channel: Channel, loader_process: int) -> bool:
    """Wait for a message; return False if the loader's process is gone, whose children may keep the channel open."""
    poll = select.poll()  # not select(), whose descriptors must be below 1024
    poll.register(channel.fileno(), select.POLLIN)
    while not poll.poll(MP_STATUS_CHECK_INTERVAL * 1000):
        if os.getppid() != loader_process:
            return False
    return True


def _fetched(fetcher: Any, index: Any, worker_id: int) -> Any:
    try:
        return fetcher.fetch(index)
    except StopIteration:
        if isinstance(fetcher, _IterableDatasetFetcher):
            return _IterableDatasetStopIteration(worker_id)
        return ExceptionWrapper(where=f"in DataLoader worker process {worker_id}")
    except Exception:
        return ExceptionWrapper(where=f"in DataLoader worker process {worker_id}")


def _send(channel: Channel, number: int, data: Any, worker_id: int) -> None:
    """Send a batch. This process lets go of the batch first; :meth:`Channel.send_pieces` says why."""
    try:
        pieces = _pieces((number, data))
    except Exception:  # the batch cannot be pickled, or there is no room in shared memory
        pieces = _pieces((number, ExceptionWrapper(where=f"in DataLoader worker process {worker_id}")))
    del data
    channel.send_pieces(*pieces)
