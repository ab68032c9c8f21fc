"""Ranks as threads over a HashStore, of this library and of torch: both have the same classes.

``play`` hands a group to each rank. ``world`` makes it the default group of its thread, which device meshes ask for;
torch needs its group of threads for this, which has collectives and no messages between two ranks.

Mirrors: torch/testing/_internal/distributed/multi_threaded_pg.py
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms


def play(lib: Any, size: int, program: Callable[[Any, int], Any], timeout: float = 60) -> list[Any]:
    """Return the results of ``program(group, rank)`` in ``size`` threads; an exception is a result, too."""
    store, results = lib.distributed.HashStore(), [None] * size

    def run(rank: int) -> None:
        try:
            group = lib.distributed.ProcessGroupGloo(store, rank, size, timedelta(seconds=timeout))
            results[rank] = program(group, rank)
        except Exception as error:
            results[rank] = error

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout + 30)
    assert not any(thread.is_alive() for thread in threads), "a rank does not end"
    return results


def good(results: list[Any]) -> list[Any]:
    """Return the results if none is an exception, and raise the first one otherwise."""
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results


def world(lib: Any, size: int, program: Callable[[], Any]) -> list[Any]:
    """Return the results of ``program()`` in ``size`` threads that are the ranks of a default group."""
    if lib.__name__ == "reftorch":
        return spawn_threads_and_init_comms(program, timeout=60, world_size=size)()
    threaded = importlib.import_module("torch.testing._internal.distributed.multi_threaded_pg")
    store, results = lib.distributed.HashStore(), [None] * size

    def run(rank: int) -> None:
        lib.distributed.init_process_group("threaded", rank=rank, world_size=size, store=store)
        try:
            results[rank] = program()
        except BaseException as error:
            results[rank] = error
            threaded.ProcessLocalGroup.exception_handle(error)
        finally:
            lib.distributed.destroy_process_group()

    lib._C._distributed_c10d._set_thread_isolation_mode(True)
    threaded._install_threaded_pg()
    try:
        threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        threaded._uninstall_threaded_pg()
        lib._C._distributed_c10d._set_thread_isolation_mode(False)
    return good(results)
