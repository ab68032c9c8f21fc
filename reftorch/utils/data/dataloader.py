"""The loader: it joins a sampler, a dataset and a collate function into an iterable of batches.

A pass over the data is an iterator. Without workers, :class:`_SingleProcessDataLoaderIter` fetches a batch when it is
asked for one. With workers, :class:`_MultiProcessingDataLoaderIter` keeps the workers busy in advance.

Mirrors: torch/utils/data/dataloader.py
Leaves out: data pipes, worker threads. This file is over 500 lines long because it contains the loader and both of its
iterators, as in PyTorch.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import pickle
import queue
import selectors
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from reftorch import _places, _shared_memory, accelerator
from reftorch._utils import ExceptionWrapper, cpu_count
from reftorch._warnings import warn
from reftorch.utils.data._utils.channel import Channel
from reftorch.utils.data._utils.collate import default_collate, default_convert
from reftorch.utils.data._utils.fetch import _DatasetKind
from reftorch.utils.data._utils.pin_memory import _pin_memory_loop, pin_memory
from reftorch.utils.data._utils.worker import (
    MP_STATUS_CHECK_INTERVAL,
    _IterableDatasetStopIteration,
    _ResumeIteration,
    _Task,
    _worker_loop,
)
from reftorch.utils.data.dataset import IterableDataset
from reftorch.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, _random_seed

__all__ = ["DataLoader"]

T_co = TypeVar("T_co", covariant=True)
_T = TypeVar("_T")
# The types of what a user passes; libraries import them for their own signatures.
_collate_fn_t = Callable[[list[_T]], Any]
_worker_init_fn_t = Callable[[int], None]

# The warning that precedes the error of a worker whose arguments cannot be pickled.
_ARGUMENTS_OF_WORKERS = (
    "Got pickle error when attempting to start a worker Process. This might be because the worker Process arguments "
    "are not picklable. Python 3.14+ changed the multiprocessing start method in non-Mac POSIX platforms to "
    "'forkserver', which requires the worker Process arguments to be picklable. You can also try "
    "multiprocessing.set_start_method('fork')."
)

_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _InfiniteConstantSampler(Sampler):
    """The sampler of an iterable dataset, which ignores indices."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader(Generic[T_co]):
    """Iterates over a dataset in batches.

    The batches come in the order of the sampler, whatever the number of workers, and with the same random numbers for
    the sampler. The random numbers inside a dataset do depend on the number of workers, because each worker has
    generators of its own; their seeds follow from ``generator``.

    Args:
        dataset: the dataset: it has ``__getitem__`` and ``__len__``, or is an :class:`IterableDataset`.
        batch_size: the number of samples in a batch (default 1); None disables batching and returns single samples.
        shuffle: whether to take the samples in a new random order in every pass.
        sampler: the order, as an iterable of indices; it excludes ``shuffle``.
        batch_sampler: the batches, as an iterable of lists of indices; it excludes ``batch_size``, ``shuffle``,
            ``sampler`` and ``drop_last``.
        num_workers: the number of processes that load; 0 loads in this process.
        collate_fn: makes a batch from a list of samples (default :func:`default_collate`; without batching
            :func:`default_convert`, on one sample).
        pin_memory: whether to pin the memory of batches for an accelerator; without an accelerator, a warning is given.
        drop_last: whether to leave out an incomplete last batch.
        timeout: the longest time to wait for a batch from a worker, in seconds; 0 waits as long as it takes.
        worker_init_fn: called in each worker with its number, after seeding and before the first batch.
        multiprocessing_context: how workers start: ``"fork"``, ``"spawn"``, ``"forkserver"``, or a context of
            ``multiprocessing``; None means the default of ``multiprocessing``. With ``"spawn"`` and ``"forkserver"``
            the dataset, ``collate_fn`` and ``worker_init_fn`` are pickled.
        generator: the generator of random orders and of the workers' seeds; None means the default one.
        prefetch_factor: how many batches each worker prepares in advance (default 2; only with workers).
        persistent_workers: whether the workers live on after a pass, with their copies of the dataset.
        pin_memory_device: deprecated and ignored.
        in_order: whether batches come in order (default True); False gives the first that is ready.

    Raises:
        ValueError: options exclude each other, or a number is out of its range.
        TypeError: ``multiprocessing_context`` is neither a string nor a context.
        RuntimeError: while iterating: a worker died, or no batch came within ``timeout`` seconds. An exception that the
            dataset raises in a worker is raised with its own type, and with the traceback it had there.

    Example:
        >>> from reftorch.utils.data import DataLoader, TensorDataset
        >>> loader = DataLoader(TensorDataset(torch.arange(5), torch.arange(5) * 10), batch_size=2)
        >>> len(loader)
        3
        >>> for x, y in loader:
        ...     print(x, y)
        tensor([0, 1]) tensor([ 0, 10])
        tensor([2, 3]) tensor([20, 30])
        tensor([4]) tensor([40])

    Mirrors torch/utils/data/dataloader.py, ``DataLoader``.
    """

    __initialized = False

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable | None = None,
        batch_sampler: Iterable[list] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing."
                "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
            )
        if prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError("prefetch_factor option should be non-negative")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self._dataset_kind = _DatasetKind.Iterable if isinstance(dataset, IterableDataset) else _DatasetKind.Map
        if self._dataset_kind == _DatasetKind.Iterable:
            for name, value in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
                if value is not None:
                    raise ValueError(
                        f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                    )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")

        if sampler is None:
            if self._dataset_kind == _DatasetKind.Iterable:
                sampler = _InfiniteConstantSampler()
            else:
                sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate

        self.dataset = dataset
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.generator = generator
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        self._iterator: _MultiProcessingDataLoaderIter | None = None
        self._IterableDataset_len_called: int | None = None
        self.__initialized = True
        self.check_worker_number_rationality()

    @property
    def multiprocessing_context(self) -> Any:
        """The context that starts the workers; None means the default of ``multiprocessing``."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None:
            if self.num_workers == 0:
                raise ValueError(
                    "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
                    f"num_workers={self.num_workers}"
                )
            if isinstance(context, str):
                methods = multiprocessing.get_all_start_methods()
                if context not in methods:
                    raise ValueError(
                        f"multiprocessing_context option should specify a valid start method in {methods!r}, but got "
                        f"multiprocessing_context={context!r}"
                    )
                context = multiprocessing.get_context(context)
            elif not isinstance(context, multiprocessing.context.BaseContext):
                raise TypeError(
                    "multiprocessing_context option should be a valid context object or a string specifying the start "
                    f"method, but got multiprocessing_context={context}"
                )
        self.__multiprocessing_context = context

    def check_worker_number_rationality(self) -> None:
        """Warn if there are more workers than processors."""
        processors = cpu_count()
        if processors is not None and self.num_workers > processors:
            where = "" if hasattr(os, "sched_getaffinity") else " (`cpuset` is not taken into account)"
            warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number "
                f"of worker in current system is {processors}{where}, which is smaller than what this DataLoader is "
                "going to create. Please be aware that excessive worker creation might get DataLoader running slow or "
                "even freeze, lower the worker number to avoid potential slowness/freeze if necessary."
            )

    def __setattr__(self, attr: str, val: Any) -> None:
        if self.__initialized and attr in _FIXED:
            raise ValueError(f"{attr} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(attr, val)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def __iter__(self) -> _BaseDataLoaderIter:
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        if not self.persistent_workers:
            return _MultiProcessingDataLoaderIter(self)
        if self._iterator is None or self._iterator._shutdown:
            self._iterator = _MultiProcessingDataLoaderIter(self)
        else:
            self._iterator._reset(self)
        return self._iterator

    def __len__(self) -> int:
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)


class _BaseDataLoaderIter:
    """One pass over the data."""

    def __init__(self, loader: DataLoader) -> None:
        if loader.pin_memory_device:
            warn(
                "pin_memory_device is deprecated, the current accelerator will be used as the device,"
                f"ignore pin_memory_device='{loader.pin_memory_device}'.",
            )
        if loader.pin_memory and not accelerator.is_available():
            warn(
                "'pin_memory' argument is set as true but no accelerator is found, "
                "then device pinned memory won't be used.",
            )
        self._dataset = loader.dataset
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._pin_memory = loader.pin_memory and accelerator.is_available()
        self._timeout = loader.timeout
        self._dataset_kind = loader._dataset_kind
        self._reset(loader)
        # The workers are seeded from this number. It is drawn without workers too, so that the default generator, and
        # with it the order of a shuffled pass, does not depend on their number.
        self._base_seed = _random_seed(loader.generator)

    def _reset(self, loader: DataLoader) -> None:
        """Begin a pass."""
        self._length = loader._IterableDataset_len_called
        self._num_yielded = 0
        self._sampler_iter = iter(self._index_sampler)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        data = self._next_data()
        self._num_yielded += 1
        if self._length is not None and self._num_yielded > self._length:
            hint = ""
            if self._num_workers > 0:
                hint = (
                    "For multiprocessing data-loading, this could be caused by not properly configuring the "
                    "IterableDataset replica at each worker. Please see "
                    "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
                )
            warn(
                f"Length of IterableDataset {self._dataset} was reported to be {self._length}"
                f"(when accessing len(dataloader)), but {self._num_yielded} samples have been fetched. {hint}",
            )
        return data

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """One pass over the data in this process."""

    def __init__(self, loader: DataLoader) -> None:
        super().__init__(loader)
        if self._timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        self._dataset_fetcher = _DatasetKind.create_fetcher(
            self._dataset_kind, self._dataset, loader._auto_collation, loader.collate_fn, loader.drop_last
        )

    def _next_data(self) -> Any:
        data = self._dataset_fetcher.fetch(next(self._sampler_iter))
        return pin_memory(data) if self._pin_memory else data


# Note [Batches from workers]
# ~~~~~~~~~~~~~~~~~~~~~~~~~~~
# The loader gives each task a number, in the order of the sampler, and hands the tasks out to the workers in turn. At
# most prefetch_factor tasks for each worker are out at a time. A worker that is quicker than another sends its batch
# before its turn; the batch then waits in _task_info. So the batches come in the order of the sampler, whatever the
# workers do:
#
#     _send_idx   the number of the next task that is handed out
#     _rcvd_idx   the number of the batch that is returned next
#     _task_info  the tasks between the two: number -> (worker,) while the worker is at it, then (worker, batch)
#
# Each worker has a channel of its own (_utils/channel.py). The loader waits for the channels and for the ends of the
# processes at once, so that the death of a worker is seen when it happens. The workers, in turn, end when their channel
# is closed: by the loader, or because the process of the loader is gone.


class _Workers:
    """The worker processes of a loader and the channels to them."""

    def __init__(self, context: Any, task: _Task) -> None:
        self.owner = os.getpid()
        self.processes: list[Any] = []
        self.channels: list[Channel] = []
        self.selector = selectors.DefaultSelector()
        self.lock = threading.Lock()  # of the sending sides: the pin-memory thread sends what is left
        try:
            for worker_id in range(task.num_workers):
                ours, theirs = context.Pipe()
                channel = Channel(ours)
                self.channels.append(channel)
                # A forked worker has copies of our ends. It closes them, or it would never see that we closed ours.
                inherited = self.channels if context.get_start_method() == "fork" else []
                process = context.Process(target=_worker_loop, args=(theirs, inherited, task, worker_id), daemon=True)
                try:
                    process.start()
                except (TypeError, AttributeError, pickle.PicklingError):
                    warn(_ARGUMENTS_OF_WORKERS)
                    raise
                finally:
                    theirs.close()
                self.processes.append(process)
                self.selector.register(channel, selectors.EVENT_READ, worker_id)
                self.selector.register(process.sentinel, selectors.EVENT_READ, worker_id)
        except BaseException:
            self.close()
            raise

    def put(self, worker_id: int, message: Any) -> None:
        """Send to a worker, without waiting."""
        channel = self.channels[worker_id]
        with self.lock:
            try:
                channel.put(message)
            except ConnectionError:
                return  # the worker is dead, which receive() finds out
            if channel._unsent:
                self.selector.modify(channel, selectors.EVENT_READ | selectors.EVENT_WRITE, worker_id)

    def receive(self, timeout: float | None) -> tuple[int, Any] | None:
        """The next message, with the number of its worker; None if none came in time.

        Raises:
            RuntimeError: a worker died.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            events = self.selector.select(None if end is None else max(0.0, end - time.monotonic()))
            for key, event in events:
                if event & selectors.EVENT_WRITE:
                    self._flush(key)
                if event & selectors.EVENT_READ:
                    return self._read(key)
            if end is not None and time.monotonic() >= end:
                return None

    def _flush(self, key: selectors.SelectorKey) -> None:
        with self.lock:
            try:
                if self.channels[key.data].flush():
                    self.selector.modify(key.fileobj, selectors.EVENT_READ, key.data)
            except ConnectionError:
                pass

    def _read(self, key: selectors.SelectorKey) -> tuple[int, Any]:
        if key.fileobj is self.channels[key.data]:
            try:
                return key.data, self.channels[key.data].recv()
            except (EOFError, ConnectionError):
                pass
        raise self._death_of(key.data)  # the channel has ended, or the process: a worker lives until close()

    def _death_of(self, worker_id: int) -> RuntimeError:
        process = self.processes[worker_id]
        process.join(1)  # the exit code may come a moment after the end of the channel
        code = process.exitcode
        front = f"DataLoader worker (pid {process.pid})"
        if code is not None and code < 0:
            hint = (
                " Hint: the system ends a process with this signal when memory runs out: use fewer workers, smaller "
                "batches or a smaller prefetch_factor."
                if -code in (signal.SIGKILL, signal.SIGBUS)
                else ""
            )
            return RuntimeError(f"{front} is killed by signal: {signal.strsignal(-code)}.{hint}")
        return RuntimeError(
            f"{front} exited unexpectedly with exit code {code}. Details are lost due to multiprocessing. Rerunning "
            "with num_workers=0 may give better error trace."
        )

    def close(self) -> None:
        """End the workers. A worker that is in the middle of a sample has 5 seconds to finish it."""
        for channel in self.channels:
            channel.close()
        self.selector.close()
        if os.getpid() != self.owner:  # a forked child has a copy of this object, but the workers are not its own
            return
        for end in ("", "terminate", "kill"):
            deadline = time.monotonic() + MP_STATUS_CHECK_INTERVAL
            for process in self.processes:
                if process.is_alive() and end:
                    getattr(process, end)()
                process.join(max(0.0, deadline - time.monotonic()))
        self.processes.clear()


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """One pass over the data with worker processes. See Note [Batches from workers]."""

    def __init__(self, loader: DataLoader) -> None:
        self._in_order = loader.in_order
        self._prefetch_factor = loader.prefetch_factor or 0
        if self._prefetch_factor == 0:
            raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        self._persistent_workers = loader.persistent_workers
        self._workers: _Workers | None = None
        super().__init__(loader)
        task = _Task(
            self._dataset_kind, self._dataset, loader._auto_collation, loader.collate_fn, loader.drop_last,
            self._base_seed, loader.worker_init_fn, self._num_workers,
        )  # fmt: skip
        self._workers = _Workers(loader.multiprocessing_context or multiprocessing, task)
        self._pinned: queue.Queue[Any] | None = None
        stop_pinning = self._start_pinning() if self._pin_memory else None
        # Also called when this object dies, and when the interpreter exits.
        self._end = weakref.finalize(self, _end_workers, self._workers, stop_pinning)
        self._prime()

    def _reset(self, loader: DataLoader) -> None:
        super()._reset(loader)
        self._send_idx = 0
        self._rcvd_idx = 0
        self._task_info: dict[int, tuple[Any, ...]] = {}
        self._tasks_outstanding = 0
        self._workers_status = [True] * self._num_workers  # whether a worker has more to give in this pass
        self._workers_num_tasks = [0] * self._num_workers
        self._worker_queue_idx_cycle = itertools.cycle(range(self._num_workers))
        if self._workers is not None:  # a further pass of persistent workers
            self._resume()
            self._prime()

    def _resume(self) -> None:
        """Tell the workers of a new pass, and drop what is still coming from the last one."""
        for worker_id in range(self._num_workers):
            self._put(worker_id, _ResumeIteration())
        waiting = self._num_workers
        while waiting:
            _, number, _ = self._get_data()
            waiting -= isinstance(number, _ResumeIteration)

    def _prime(self) -> None:
        for _ in range(self._prefetch_factor * self._num_workers):
            self._try_put_index()

    @property
    def _shutdown(self) -> bool:
        return not self._end.alive

    def _put(self, worker_id: int, message: Any) -> None:
        assert self._workers is not None
        self._workers.put(worker_id, message)

    # ---- from the workers

    def _start_pinning(self) -> Callable[[], None]:
        """Start the thread that takes the batches from the workers and pins them. Return a function that ends it."""
        self._pinned = queue.Queue()
        workers = self._workers
        assert workers is not None

        def receive() -> Any:
            while not over.is_set():
                message = workers.receive(0.1)
                if message is not None:
                    return message[0], *message[1]
            return None, None, None

        over = threading.Event()
        thread = threading.Thread(
            target=_pin_memory_loop,
            args=(receive, self._pinned, accelerator.current_device_index(), over.is_set),
            daemon=True,
        )
        thread.start()

        def stop() -> None:
            over.set()
            thread.join()

        return stop

    def _get_data(self) -> tuple[int, Any, Any]:
        """The next result of any worker: its number, the number of the task, the batch."""
        assert self._workers is not None
        timeout = self._timeout or None
        try:
            if self._pinned is not None:
                message = self._pinned.get(timeout=timeout)
                if isinstance(message, Exception):
                    raise message
                return message
            received = self._workers.receive(timeout)
        except queue.Empty:
            received = None
        except RuntimeError:
            self._shutdown_workers()
            raise
        if received is None:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
        return received[0], *received[1]

    def _next_data(self) -> Any:
        while True:
            if not self._find_next_task():
                if not self._persistent_workers:
                    self._shutdown_workers()
                raise StopIteration
            if len(self._task_info[self._rcvd_idx]) == 2:
                worker_id, data = self._task_info.pop(self._rcvd_idx)
                self._rcvd_idx += 1
                return self._process_data(data, worker_id)

            worker_id, number, data = self._get_data()
            self._tasks_outstanding -= 1
            if isinstance(data, _IterableDatasetStopIteration):
                self._workers_status[worker_id] = False
                self._try_put_index()
            elif number == self._rcvd_idx or not self._in_order:
                del self._task_info[number]
                self._rcvd_idx += number == self._rcvd_idx
                return self._process_data(data, worker_id)
            else:
                self._task_info[number] = (worker_id, data)

    def _find_next_task(self) -> bool:
        """Move on to the next task whose batch has come or will come. Return False if there is none."""
        while self._rcvd_idx < self._send_idx:
            info = self._task_info.get(self._rcvd_idx)
            if info is not None:
                if len(info) == 2 or self._workers_status[info[0]]:
                    return True
                del self._task_info[self._rcvd_idx]  # the iterable dataset of this worker ended before
            self._rcvd_idx += 1
        return False

    def _process_data(self, data: Any, worker_id: int) -> Any:
        self._workers_num_tasks[worker_id] -= 1
        self._try_put_index()
        if isinstance(data, ExceptionWrapper):
            data.reraise()
        return data

    # ---- to the workers

    def _try_put_index(self) -> None:
        """Hand the next task out, if there is one, to the worker whose turn it is."""
        most = self._prefetch_factor * self._num_workers
        if self._tasks_outstanding >= most:
            raise AssertionError("Number of outstanding tasks exceeded maximum allowed tasks")
        try:
            index = next(self._sampler_iter)
        except StopIteration:
            return
        for worker_id in itertools.islice(self._worker_queue_idx_cycle, self._num_workers):
            if self._workers_status[worker_id]:
                share = most // sum(self._workers_status)
                if self._in_order or self._workers_num_tasks[worker_id] < share:
                    break
        else:
            return
        self._put(worker_id, (self._send_idx, index))
        self._task_info[self._send_idx] = (worker_id,)
        self._workers_num_tasks[worker_id] += 1
        self._tasks_outstanding += 1
        self._send_idx += 1

    # ---- the end

    def _shutdown_workers(self) -> None:
        """End the workers; calling it again does nothing."""
        self._end()


def _end_workers(workers: _Workers, stop_pinning: Callable[[], None] | None) -> None:
    mine = os.getpid() == workers.owner  # a forked child has neither the thread nor the workers
    if stop_pinning is not None and mine:
        stop_pinning()
    ended = [process.pid for process in workers.processes if mine]
    workers.close()
    for pid in ended:
        _shared_memory.remove_names_of_worker(pid)


_places.adopt(__name__, ("_DatasetKind",), globals())
