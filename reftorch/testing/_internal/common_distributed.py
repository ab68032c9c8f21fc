"""Ranks as threads of one process, for tests, examples and notebooks: they start in milliseconds.

Mirrors: torch/testing/_internal/common_distributed.py, torch/testing/_internal/distributed/multi_threaded_pg.py
Leaves out: tests that start processes, and the group of PyTorch's that passes tensors between threads: the threads here
talk over TCP, as processes do.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import reftorch.distributed as dist
from reftorch._thread_local import ThreadLocal

__all__ = ["spawn_threads_and_init_comms"]


class ThreadLocalWorld:
    """The groups of each thread that plays a rank; all other threads have those of the process."""

    def __init__(self, of_process: Any) -> None:
        vars(self)["_of_process"] = of_process
        vars(self)["_of_thread"] = ThreadLocal()

    def enter(self) -> Any:
        """Let the calling thread have groups of its own; return the object that holds them."""
        world = vars(self)["_of_thread"].world = type(vars(self)["_of_process"])()
        return world

    def leave(self) -> None:
        """Undo :meth:`enter`."""
        del vars(self)["_of_thread"].world

    def _world(self) -> Any:
        return getattr(vars(self)["_of_thread"], "world", vars(self)["_of_process"])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._world(), name, value)


_lock = threading.Lock()
_users = 0  # calls of in_threads that run


@contextmanager
def _world_of_threads() -> Iterator[ThreadLocalWorld]:
    """Return a context in which threads may have groups of their own; afterwards only the process has groups."""
    global _users
    module: Any = dist.distributed_c10d
    with _lock:
        if _users == 0:
            module._world = ThreadLocalWorld(module._world)
        world, _users = module._world, _users + 1
    try:
        yield world
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                module._world = vars(world)["_of_process"]


@contextmanager
def _as_rank(
    world: ThreadLocalWorld,
    store: dist.HashStore,
    rank: int,
    world_size: int,
    timeout: timedelta,
    backend: str | None = "gloo",
) -> Iterator[Any]:
    """Return a context in which the calling thread is a rank of a default group.

    An exception in the context ends the connections of the thread's groups, so that no other rank waits for this one.
    """
    of_thread = world.enter()
    try:
        dist.init_process_group(backend, rank=rank, world_size=world_size, store=store, timeout=timeout)
        try:
            yield of_thread
        except BaseException:
            _abort_groups(of_thread)
            raise
        finally:
            dist.destroy_process_group()
    finally:
        world.leave()


def _abort_groups(of_thread: Any) -> None:
    """End the connections of all groups of a thread that plays a rank. Any thread may call the function."""
    for pg in list(of_thread.pg_map):
        pg.abort()


def spawn_threads_and_init_comms(
    func: Callable[..., Any] | None = None, timeout: timedelta | float = 300, world_size: int = 4
) -> Callable[..., Any]:
    """Let a function run in ``world_size`` threads, each of which is a rank of a default group of its own.

    Args:
        func: what each rank runs, with the arguments of the call.
        timeout: how long an operation may take, in seconds or as a ``timedelta``.
        world_size: the number of ranks.

    Returns:
        A function that returns the list of the results, by rank, and raises the first exception of a rank. PyTorch's
        returns nothing.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> spawn_threads_and_init_comms(lambda: dist.get_rank(), world_size=3)()
        [0, 1, 2]

    Mirrors torch/testing/_internal/common_distributed.py, ``spawn_threads_and_init_comms``.
    """
    if func is None:
        return functools.partial(spawn_threads_and_init_comms, timeout=timeout, world_size=world_size)
    limit = timeout if isinstance(timeout, timedelta) else timedelta(seconds=timeout)

    @functools.wraps(func)
    def in_threads(*args: Any, **kwargs: Any) -> list[Any]:
        store = dist.HashStore()
        results: list[Any] = [None] * world_size
        errors: list[tuple[int, BaseException]] = []

        def play(rank: int, world: ThreadLocalWorld) -> None:
            try:
                with _as_rank(world, store, rank, world_size, limit):
                    results[rank] = func(*args, **kwargs)
            except BaseException as error:
                errors.append((rank, error))

        with _world_of_threads() as world:
            threads = [
                threading.Thread(target=play, args=(rank, world), name=f"rank {rank}") for rank in range(world_size)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        if errors:
            rank, error = errors[0]
            if hasattr(error, "add_note"):  # Python 3.11
                error.add_note(f"(raised by rank {rank})")
            raise error
        return results

    return in_threads
