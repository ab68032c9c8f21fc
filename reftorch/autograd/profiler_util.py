"""What a profile is made of, and how it is summed up and shown.

Mirrors: torch/autograd/profiler_util.py
Leaves out: GPU times, stacks, flops, kernels.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg"]


class FunctionEvent:
    """One call: of an op, of a node of the backward pass, or of a ``record_function`` block.

    Times are in microseconds. ``self_cpu_time_total`` is the call's time without that of its children.

    Mirrors torch/autograd/profiler_util.py, ``FunctionEvent``.
    """

    def __init__(self, id: int, recorded: tuple[Any, ...]) -> None:
        name, start, end, self._parent, thread, sequence_nr, memory, shapes, is_backward = recorded
        self.id = id
        self.trace_name = name
        # The steps of a loop are summed up as one.
        self.name = self.key = "ProfilerStep*" if name.startswith("ProfilerStep#") else name
        self.start, self.end = start / 1000, end / 1000
        self.thread = thread
        self.sequence_nr = sequence_nr
        self.input_shapes: list[list[int]] = shapes
        self.is_backward = is_backward
        self.cpu_memory_usage = memory
        self.count = 1
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] = []

    @property
    def cpu_time_total(self) -> float:
        return self.end - self.start

    @property
    def self_cpu_time_total(self) -> float:
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    def __repr__(self) -> str:
        return f"<FunctionEvent id={self.id} name={self.name} cpu_time={_time(self.cpu_time_total)}>"


class FunctionEventAvg:
    """All calls of one name (and, if asked for, of the same input shapes) together.

    Mirrors torch/autograd/profiler_util.py, ``FunctionEventAvg``.
    """

    def __init__(self, key: str, events: Sequence[FunctionEvent]) -> None:
        self.key = key
        self.count = len(events)
        self.input_shapes = events[0].input_shapes
        self.cpu_time_total = sum(event.cpu_time_total for event in events)
        self.self_cpu_time_total = sum(event.self_cpu_time_total for event in events)
        self.cpu_memory_usage = sum(event.cpu_memory_usage for event in events)
        self.self_cpu_memory_usage = sum(event.self_cpu_memory_usage for event in events)

    @property
    def cpu_time(self) -> float:
        """The time of one call, on the average."""
        return self.cpu_time_total / self.count

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
    """Events, or their averages, with ways to show them.

    Mirrors torch/autograd/profiler_util.py, ``EventList``.
    """

    def __init__(self, events: Iterable[Any] = (), profile_memory: bool = False, with_shapes: bool = False) -> None:
        super().__init__(events)
        self.profile_memory = profile_memory
        self.with_shapes = with_shapes

    @classmethod
    def from_records(cls, records: Sequence[tuple[Any, ...]], profile_memory: bool, with_shapes: bool) -> EventList:
        """The events of ``_C``, each with its parent and its children."""
        events = [FunctionEvent(id, record) for id, record in enumerate(records)]
        for event in events:
            if event._parent >= 0:
                event.cpu_parent = events[event._parent]
                event.cpu_parent.cpu_children.append(event)
        return cls(events, profile_memory, with_shapes)

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all events, none counted twice."""
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(self, group_by_input_shape: bool = False) -> EventList:
        """Sum events up by name.

        Args:
            group_by_input_shape: keep calls with other input shapes apart; the profile must have recorded shapes.
        """
        groups: dict[tuple[str, str], list[FunctionEvent]] = defaultdict(list)
        for event in self:
            groups[event.key, str(event.input_shapes) if group_by_input_shape else ""].append(event)
        averages = (FunctionEventAvg(key, events) for (key, _), events in groups.items())
        return EventList(averages, self.profile_memory, group_by_input_shape)

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_name_column_width: int = 55,
        header: str | None = None,
    ) -> str:
        """Lay the events out, one a line.

        Args:
            sort_by: an attribute, the largest first: ``"cpu_time_total"``, ``"self_cpu_time_total"``, ``"count"``,
                ``"cpu_time"``, ``"cpu_memory_usage"``, ``"self_cpu_memory_usage"``. None for the order of calls.
            row_limit: how many lines at most; -1 for all.
            max_name_column_width: longer names are cut.
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
        return FunctionEventAvg("Total", self)

    def export_chrome_trace(self, path: str) -> None:
        """Write the events for ``chrome://tracing`` or https://ui.perfetto.dev.

        Args:
            path: the file, JSON.
        """
        trace = [
            {
                "name": event.trace_name, "ph": "X", "ts": event.start, "dur": event.cpu_time_total,
                "pid": "CPU functions", "tid": event.thread, "cat": "backward" if event.is_backward else "cpu_op",
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
