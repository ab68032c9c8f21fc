"""Ranks that are threads, and the models of the tests of DistributedDataParallel.

Mirrors: torch/testing/_internal/common_distributed.py
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
from tests.nn.parallel import ddp_program


def play(lib: Any, size: int, program: Callable[[Any, int], Any]) -> list[Any]:
    """Return the results of ``program(group, rank)`` in threads of either library."""
    store, results = lib.distributed.HashStore(), [None] * size

    def run(rank: int) -> None:
        try:
            results[rank] = program(ddp_program.group_of(lib, store, rank, size), rank)
        except Exception as error:
            results[rank] = error

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results


def ranks(size: int = 2) -> Any:
    return spawn_threads_and_init_comms(timeout=30, world_size=size)


def near(a: Any, b: Any) -> None:
    """Compare nested results; None stands for no gradient and must be in the same places."""
    if isinstance(a, dict):
        assert list(a) == list(b)
        a, b = list(a.values()), list(b.values())
    if isinstance(a, list):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            near(x, y)
    elif a is None or b is None:
        assert a is b
    else:
        assert a == pytest.approx(b, rel=1e-9, abs=1e-12)


class Layers(nn.Sequential):
    """Four layers, so that buckets of one layer each are possible."""

    def __init__(self) -> None:
        super().__init__(*(nn.Linear(4, 4, dtype=torch.float64) for _ in range(4)))


def batch(rank: int, size: int = 2) -> Any:
    return torch.arange(size * 12, dtype=torch.float64).reshape(-1, 4).sin()[rank::size]


class Branch(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.used, self.unused = nn.Linear(2, 2), nn.Linear(2, 2)
        self.both = False

    def forward(self, x: Any) -> Any:
        y = self.used(x)
        return (y, self.unused(x)) if self.both else y
