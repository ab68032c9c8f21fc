"""Marks for NVIDIA's timeline.

Mirrors: torch/cuda/nvtx.py
Leaves out: the timeline itself. The functions count nested ranges as PyTorch's do and show nothing;
``torch.profiler.record_function`` marks ranges that are seen.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

from reftorch._thread_local import ThreadLocal

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


class _Depth(ThreadLocal):
    value = 0


_depth = _Depth()
_numbers = itertools.count(1)


def range_push(msg: str) -> int:
    """Begin a range inside of those that this thread has begun, and return their number.

    Args:
        msg: the name of the range.

    Mirrors torch/cuda/nvtx.py, ``range_push``.
    """
    depth = _depth.value
    _depth.value = depth + 1
    return depth


def range_pop() -> int:
    """End the innermost range of this thread, and return how many ranges are around it; -1 or less if there is none.

    Mirrors torch/cuda/nvtx.py, ``range_pop``.
    """
    depth = _depth.value - 1
    _depth.value = max(depth, 0)
    return depth


def range_start(msg: str) -> int:
    """Begin a range that may end in another thread, and return its number, for :func:`range_end`.

    Mirrors torch/cuda/nvtx.py, ``range_start``.
    """
    return next(_numbers)


def range_end(range_id: int) -> None:
    """End a range of :func:`range_start`.

    Mirrors torch/cuda/nvtx.py, ``range_end``.
    """


def mark(msg: str) -> None:
    """Mark a moment.

    Mirrors torch/cuda/nvtx.py, ``mark``.
    """


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """Return a context that is a range. Also decorates a function.

    Args:
        msg: the name; ``str.format`` fills in the other arguments.

    Mirrors torch/cuda/nvtx.py, ``range``.
    """
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
