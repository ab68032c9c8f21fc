"""A profiler: measures the time that the ops of a program take.

Mirrors: torch/autograd/profiler.py
Leaves out: GPUs, stacks, flops, modules, schedules (``torch.profiler``), NVTX and ITT marks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch.autograd.profiler_util import EventList, FunctionEvent, FunctionEventAvg

__all__ = ["EventList", "FunctionEvent", "profile", "record_function"]


class profile:
    """Measure every op that this thread calls inside, including the ops of backward passes.

    The Dispatcher reports the calls, so a program that does not profile pays nothing. A collective or message of
    ``torch.distributed`` is an event such as ``gloo:all_reduce``, from its call to its end, beside the ops.

    Args:
        enabled: if False, measure nothing.
        record_shapes: record the shapes of tensor arguments.
        profile_memory: record the number of bytes that each call allocated, minus the bytes that it freed.

    Raises:
        RuntimeError: a profiler runs already, or the ``profile`` is entered a second time.

    Example:
        >>> import reftorch as torch
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.autograd.profiler.profile() as prof:
        ...     (x * 2).sum().backward()
        >>> [event.name for event in prof.function_events[:2]]
        ['aten::mul', 'aten::sum']
        >>> print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=3))
        -...
        Name    Self CPU %    Self CPU ...

    Mirrors torch/autograd/profiler.py, ``profile``.
    """

    def __init__(
        self, enabled: bool = True, *, record_shapes: bool = False, profile_memory: bool = False, **left_out: Any
    ) -> None:
        asked_for = [name for name, value in left_out.items() if value]
        if asked_for:
            raise NotImplementedError(
                f"profile(): {', '.join(asked_for)} is not there: only the CPU's ops are measured"
            )
        self.enabled = enabled
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.entered = False
        self.function_events: EventList | None = None

    def __enter__(self) -> profile:
        if not self.enabled:
            return self
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        _C._autograd._enable_profiler(self.record_shapes, self.profile_memory)
        self.entered = True
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self.enabled:
            records = _C._autograd._disable_profiler()
            self.function_events = EventList.from_records(records, self.profile_memory, self.record_shapes)

    def _events(self) -> EventList:
        if self.function_events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self.function_events

    def key_averages(self, group_by_input_shape: bool = False) -> EventList:
        """Sum the events by name; see ``EventList.key_averages``."""
        return self._events().key_averages(group_by_input_shape)

    def table(self, **options: Any) -> str:
        """Return a table of all events; see ``EventList.table``."""
        return self._events().table(**options)

    def export_chrome_trace(self, path: str) -> None:
        """Write the events for ``chrome://tracing``."""
        self._events().export_chrome_trace(path)

    def total_average(self) -> FunctionEventAvg:
        """Return the average of all events."""
        return self._events().total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all events in microseconds; nested events count once."""
        return self._events().self_cpu_time_total

    def __repr__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self.function_events is None else repr(self.function_events)

    def __str__(self) -> str:
        return repr(self) if self.function_events is None else str(self.function_events)


class record_function:
    """Give a part of the program a name in the profile: a ``with`` block, or a decorated function.

    Args:
        name: the name.
        args: a text about this run of the part. PyTorch has it among the inputs of the event; here no profile shows it.

    Example:
        >>> import reftorch as torch
        >>> with torch.autograd.profiler.profile() as prof:
        ...     with torch.autograd.profiler.record_function("forward"):
        ...         _ = torch.ones(2) + 1
        >>> forward = prof.function_events[0]
        >>> forward.name, [child.name for child in forward.cpu_children]
        ('forward', ['aten::ones', 'aten::add'])

    Mirrors torch/autograd/profiler.py, ``record_function``.
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self.record: Any = None

    def __enter__(self) -> record_function:
        if _C._autograd._profiler_enabled():  # asked first, because an event that nobody measures takes longer to make
            self.record = _C._autograd._RecordFunction(self.name)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.record = None

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return recorded
