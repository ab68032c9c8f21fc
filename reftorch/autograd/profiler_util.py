"""The events of a profile, their averages, and tables of them.

Mirrors: torch/autograd/profiler_util.py
Leaves out: GPU times, stacks, flops, kernels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "Interval"]


class Interval:
    """A span of time: its start and its end, in microseconds.

    Mirrors torch/autograd/profiler_util.py, ``Interval``.
    """

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def elapsed_us(self) -> float:
        return self.end - self.start


class FunctionEvent:
    """One call: of an op, of a node of the backward pass, or of a ``record_function`` block.

    Times are in microseconds. ``self_cpu_time_total`` is the time of the call without the time of its children.

    Args:
        id: the number of the event.
        name: the name of the op, the node or the block.
        thread: the number of the calling thread; 0 is the first thread that recorded an event.
        start_us, end_us: the start and the end of the call.
        fwd_thread: for an event of a backward pass, the thread that recorded the node.
        input_shapes: the shapes of tensor arguments.
        scope: 0 for an ordinary call, 1 for a call in a backward pass.
        cpu_memory_usage: the bytes that the call allocated, minus the bytes that it freed.
        is_async: whether the event ended on another thread; such an event has no parent and no children.
        sequence_nr: the sequence number of the node that the op recorded, or of the node that ran; -1 if there is no
            node.
        node_id: the number of the process, if several processes are profiled.
        trace_name: the name of the event in a trace, if it differs from ``name``.

    Example:
        >>> from reftorch.autograd.profiler_util import FunctionEvent
        >>> event = FunctionEvent(id=0, name="step", thread=0, start_us=10, end_us=15)
        >>> event.cpu_time_total, event.time_range.end
        (5, 15)

    Mirrors torch/autograd/profiler_util.py, ``FunctionEvent``.
    """

    device_time_total = self_device_time_total = 0

    def __init__(
        self,
        id: int,
        name: str,
        thread: int,
        start_us: float,
        end_us: float,
        *,
        fwd_thread: int | None = None,
        input_shapes: list[list[int]] | None = None,
        scope: int = 0,
        cpu_memory_usage: int = 0,
        is_async: bool = False,
        sequence_nr: int = -1,
        node_id: int = -1,
        trace_name: str | None = None,
    ) -> None:
        self.id = id
        self.name = self.key = name
        self.trace_name = name if trace_name is None else trace_name
        self.time_range = Interval(start_us, end_us)
        self.thread = thread
        self.fwd_thread = fwd_thread
        self.input_shapes = [] if input_shapes is None else input_shapes
        self.scope = scope
        self.cpu_memory_usage = cpu_memory_usage
        self.is_async = is_async
        self.sequence_nr = sequence_nr
        self.node_id = node_id
        self.count = 1
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] = []

    def append_cpu_child(self, child: FunctionEvent) -> None:
        self.cpu_children.append(child)
        child.cpu_parent = self

    @property
    def cpu_time_total(self) -> float:
        return self.time_range.elapsed_us()

    @property
    def cpu_time(self) -> float:
        return self.cpu_time_total / self.count

    @property
    def self_cpu_time_total(self) -> float:
        if self.is_async:  # its time passes beside that of the ops
            return 0
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    def __repr__(self) -> str:
        return f"<FunctionEvent id={self.id} name={self.name} cpu_time={_time(self.cpu_time_total)}>"


class FunctionEventAvg:
    """The average of all calls with one name (and, on request, with equal input shapes).

    Example:
        >>> from reftorch.autograd.profiler_util import FunctionEvent, FunctionEventAvg
        >>> average = FunctionEventAvg()
        >>> for start, end in ((10, 15), (20, 30)):
        ...     _ = average.add(FunctionEvent(id=start, name="step", thread=0, start_us=start, end_us=end))
        >>> average.key, average.count, average.cpu_time
        ('step', 2, 7.5)

    Mirrors torch/autograd/profiler_util.py, ``FunctionEventAvg``.
    """

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = 0
        self.input_shapes: list[list[int]] | None = None
        self.scope: int | None = None
        self.node_id = 0
        self.cpu_time_total: float = 0
        self.self_cpu_time_total: float = 0
        self.device_time_total = self.self_device_time_total = 0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Add an event, or all events of another average, and return this average.

        Raises:
            AssertionError: the argument is neither, or has another name.
        """
        if not isinstance(other, (FunctionEvent, FunctionEventAvg)):
            raise AssertionError("Expected other to be a FunctionEvent or FunctionEventAvg")
        if self.key is None:
            self.key, self.input_shapes = other.key, other.input_shapes
            self.scope, self.node_id = other.scope, other.node_id
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.count += other.count
        return self

    __iadd__ = add

    @property
    def cpu_time(self) -> float:
        """The mean time of one call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def __repr__(self) -> str:
        return f"<FunctionEventAvg key={self.key} count={self.count} cpu_time={_time(self.cpu_time)}>"


def _time(microseconds: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if abs(microseconds) >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


def _memory(n: int) -> str:
    for unit, size in (("Gb", 1 << 30), ("Mb", 1 << 20), ("Kb", 1 << 10)):
        if abs(n) >= size:
            return f"{n / size:.2f} {unit}"
    return f"{n} b"


class EventList(list):
    """A list of events or averages, with methods that show them.

    Mirrors torch/autograd/profiler_util.py, ``EventList``.
    """

    def __init__(self, events: Iterable[Any] = (), profile_memory: bool = False, with_shapes: bool = False) -> None:
        super().__init__(events)
        self.profile_memory = profile_memory
        self.with_shapes = with_shapes

    @classmethod
    def from_records(cls, records: Sequence[tuple[Any, ...]], profile_memory: bool, with_shapes: bool) -> EventList:
        """Make a list of the events that ``_C`` recorded, each with its parent and its children."""
        events = cls((), profile_memory, with_shapes)
        recorded_by: dict[int, int] = {}  # the thread that ran the op which recorded a node
        for id, record in enumerate(records):
            name, start, end, parent, thread, sequence_nr, memory, shapes, is_backward, is_async = record
            if not is_backward:
                recorded_by[sequence_nr] = thread
            event = FunctionEvent(
                id, "ProfilerStep*" if name.startswith("ProfilerStep#") else name, thread, start / 1000, end / 1000,
                fwd_thread=recorded_by.get(sequence_nr, 0) if is_backward else 0, input_shapes=shapes,
                scope=int(is_backward), cpu_memory_usage=memory, sequence_nr=sequence_nr,
                trace_name=name, is_async=is_async,
            )  # fmt: skip
            events.append(event)
            if parent >= 0:
                events[parent].append_cpu_child(event)
        return events

    def _populate_cpu_children(self) -> None:
        """Find the parents of events that a program made itself: the parent is the shortest event of the same  thread
        that contains the event. An event that another event contains only in part is not a child of the other.
        """
        threads: dict[tuple[int, int], list[FunctionEvent]] = defaultdict(list)
        for event in self:
            if not event.is_async:
                threads[event.thread, event.node_id].append(event)
        for events in threads.values():
            running: list[FunctionEvent] = []  # each event is inside the event before it
            for event in sorted(events, key=lambda event: (event.time_range.start, -event.time_range.end)):
                span = event.time_range
                while running and (span.start >= running[-1].time_range.end or span.end > running[-1].time_range.end):
                    running.pop()
                if running:
                    running[-1].append_cpu_child(event)
                running.append(event)

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all events; nested events count once."""
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(self, group_by_input_shape: bool = False) -> EventList:
        """Sum events by name.

        Args:
            group_by_input_shape: separate calls with different input shapes; the profile must have recorded shapes.
        """
        averages: dict[tuple[str, str], FunctionEventAvg] = defaultdict(FunctionEventAvg)
        for event in self:
            averages[event.key, str(event.input_shapes) if group_by_input_shape else ""].add(event)
        return EventList(averages.values(), self.profile_memory, group_by_input_shape)

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_name_column_width: int = 55,
        header: str | None = None,
    ) -> str:
        """Return a table of the events, one event in each line.

        Args:
            sort_by: the attribute that sorts the lines, the largest first: ``"cpu_time_total"``,
                ``"self_cpu_time_total"``, ``"count"``, ``"cpu_time"``, ``"cpu_memory_usage"``,
                ``"self_cpu_memory_usage"``. None keeps the order of the calls.
            row_limit: the largest number of lines; -1 means all.
            max_name_column_width: longer names are truncated.
            header: a line above the table.

        Raises:
            AttributeError: there is no such attribute.
        """
        rows = list(self) if sort_by is None else sorted(self, key=lambda event: getattr(event, sort_by), reverse=True)
        total = self.self_cpu_time_total
        columns = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
        columns += ["CPU Mem", "Self CPU Mem"] if self.profile_memory else []
        columns += ["# of Calls"] + (["Input Shapes"] if self.with_shapes else [])
        lines = [columns]
        for event in rows[: None if row_limit < 0 else row_limit]:
            name = event.key
            if len(name) > max_name_column_width:
                name = name[: max_name_column_width - 3] + "..."
            line = [
                name, _percent(event.self_cpu_time_total, total), _time(event.self_cpu_time_total),
                _percent(event.cpu_time_total, total), _time(event.cpu_time_total),
                _time(event.cpu_time_total / event.count),
            ]  # fmt: skip
            if self.profile_memory:
                line += [_memory(event.cpu_memory_usage), _memory(event.self_cpu_memory_usage)]
            lines.append([*line, str(event.count), *([str(event.input_shapes)] if self.with_shapes else [])])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rule = "  ".join("-" * width for width in widths)
        text = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        head = [] if header is None else [rule, header]
        return "\n".join([*head, rule, text[0], rule, *text[1:], rule, f"Self CPU time total: {_time(total)}\n"])

    def total_average(self) -> FunctionEventAvg:
        """All events as one."""
        total = FunctionEventAvg()
        for event in self:
            total.key = None  # the events have different names
            total.add(event)
        total.key = "Total"
        return total

    def export_chrome_trace(self, path: str) -> None:
        """Write the events for ``chrome://tracing`` or https://ui.perfetto.dev.

        Args:
            path: the name of the JSON file.
        """
        import json  # here, because `import reftorch` would pay for it

        trace = [
            {
                "name": event.trace_name, "ph": "X", "ts": event.time_range.start, "dur": event.cpu_time_total,
                "pid": "CPU functions", "tid": event.thread, "cat": "backward" if event.scope else "cpu_op",
                "args": {"Sequence number": event.sequence_nr, "Input Dims": event.input_shapes},
            }
            for event in self
        ]  # fmt: skip
        with open(path, "w") as file:
            json.dump({"traceEvents": trace, "displayTimeUnit": "ms"}, file)

    def __str__(self) -> str:
        return self.table()


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}%" if whole > 0 else "NaN"
