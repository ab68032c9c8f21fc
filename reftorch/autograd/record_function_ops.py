"""``torch.ops.profiler``: the begin and the end of a :class:`record_function` as two ops.

A traced graph cannot contain a ``with`` block, but it can contain calls of ops. So a tracer records a
``record_function`` as these two calls, and the generated code has the part's name in its profile.

    >>> with torch.autograd.profiler.profile() as prof:
    ...     handle = torch.ops.profiler._record_function_enter("forward")
    ...     _ = torch.ones(2)
    ...     torch.ops.profiler._record_function_exit(handle)
    >>> "forward" in [event.name for event in prof.function_events]
    True

This module is imported when ``torch.ops.profiler`` is first used.

Mirrors: torch/csrc/autograd/record_function_ops.cpp
Leaves out: the overloads that hold their handle in a TorchScript class, and the end of a future.
"""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING

from reftorch import _C
from reftorch.autograd.profiler import record_function
from reftorch.library import Library, fallthrough_kernel

if TYPE_CHECKING:
    from reftorch._tensor import Tensor

_ops = Library("profiler", "DEF")
_ops.define("_record_function_enter(str name, str? args=None) -> Tensor")
_ops.define("_record_function_exit(Tensor handle) -> ()")

_numbers = itertools.count()
_running: dict[int, record_function] = {}  # by the number that the handle holds
_lock = threading.Lock()


def _enter(name: str, args: str | None = None) -> Tensor:
    """Begin an event, and return a handle to end it with."""
    with _lock:
        number = next(_numbers)
        _running[number] = record_function(name, args).__enter__()
    return _C.tensor(number)


def _exit(handle: Tensor) -> None:
    """End the event of a handle.

    Raises:
        RuntimeError: the handle is that of no running event.
    """
    number = int(handle.item()) if handle.numel() == 1 else -1
    with _lock:
        record = _running.pop(number, None)
    if record is None:
        raise RuntimeError(
            "_record_function_exit(): expected the handle of an event that runs, from _record_function_enter(), "
            f"but got {handle}."
        )
    record.__exit__()


for _name, _kernel in (("_record_function_enter", _enter), ("_record_function_exit", _exit)):
    _ops.impl(_name, _kernel, "CompositeImplicitAutograd")
    _ops.impl(_name, fallthrough_kernel, "Profiler")  # the two calls are no events themselves
