"""Ranks as threads over a HashStore, of this library and of torch: both have the same classes.

Mirrors: torch/testing/_internal/distributed/multi_threaded_pg.py
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any


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
