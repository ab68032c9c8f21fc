"""Start and stop of the profiler of a GPU.

Mirrors: torch/cuda/profiler.py
Leaves out: NVIDIA's profiler itself. The functions exist so that programs that call them run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from reftorch.cuda._device import init

__all__ = ["profile", "start", "stop"]


def start() -> None:
    """Start CUDA. NVIDIA's profiler is not started, because it is not part of this library.

    Mirrors torch/cuda/profiler.py, ``start``.
    """
    init()


def stop() -> None:
    """Start CUDA. NVIDIA's profiler is not stopped, because it is not part of this library.

    Mirrors torch/cuda/profiler.py, ``stop``.
    """
    init()


@contextlib.contextmanager
def profile() -> Iterator[None]:
    """Return a context that calls :func:`start` and :func:`stop`.

    Mirrors torch/cuda/profiler.py, ``profile``.
    """
    start()
    try:
        yield
    finally:
        stop()
