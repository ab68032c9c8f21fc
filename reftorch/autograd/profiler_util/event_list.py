"""A list of events, and how it is made from what was recorded.

Mirrors: torch/autograd/profiler_util.py (EventList), torch/autograd/profiler.py (_parse_kineto_results)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from reftorch.autograd.profiler_util.events import DeviceType, FunctionEvent, FunctionEventAvg
from reftorch.autograd.profiler_util.table import build_table

__all__ = ["EventList"]


class EventList(list):
    """A list of events or averages, with methods that show them.

    Args:
        events: the events.
        use_device: the device that was profiled beside the CPU: ``"cuda"`` or None.
        profile_memory, with_shapes, with_flops: what was recorded.

    Mirrors torch/autograd/profiler_util.py, ``EventList``.
    """

    def __init__(
        self,
        events: Iterable[Any] = (),
        *,
        use_device: str | None = None,
        profile_memory: bool = False,
        with_shapes: bool = False,
        with_flops: bool = False,
    ) -> None:
        super().__init__(events)
        self.use_device = use_device
        self.profile_memory = profile_memory
        self.with_shapes = with_shapes
        self.with_flops = with_flops

    def _like(self, events: Iterable[Any], with_shapes: bool | None = None) -> EventList:
        """Return a list of other events from the same profile."""
        return EventList(
            events,
            use_device=self.use_device,
            profile_memory=self.profile_memory,
            with_shapes=self.with_shapes if with_shapes is None else with_shapes,
            with_flops=self.with_flops,
        )

    @classmethod
    def from_records(
        cls, records: Sequence[dict[str, Any]], activities: Sequence[dict[str, Any]], began_ns: int, **options: Any
    ) -> EventList:
        """Make a list of the events that ``_C`` recorded, each with its parent, its children and its kernels.

        Args:
            records: the events of threads; their times count from the beginning of the profile.
            activities: the operations of devices; their times count from the zero of the clock.
            began_ns: the beginning of the profile on this clock.
            options: those of the constructor.
        """
        events = cls(**options)
        recorded_by: dict[int, int] = {}  # the thread that ran the op which recorded a node
        for id, record in enumerate(records):
            name, is_backward, number = record["name"], record["is_backward"], record["sequence_nr"]
            if not is_backward:
                recorded_by[number] = record["thread"]
            event = FunctionEvent(
                id,
                "ProfilerStep*" if name.startswith("ProfilerStep#") else name,
                record["thread"],
                record["start_ns"] / 1000,
                record["end_ns"] / 1000,
                fwd_thread=recorded_by.get(number, 0) if is_backward else 0,
                input_shapes=record["shapes"],
                stack=record["stack"],
                scope=int(is_backward),
                use_device=events.use_device,
                cpu_memory_usage=record["cpu_memory"],
                device_memory_usage=record["device_memory"],
                is_async=record["is_async"],
                sequence_nr=number,
                flops=record["flops"],
                trace_name=name,
            )
            events.append(event)
            if record["parent"] >= 0:
                events[record["parent"]].append_cpu_child(event)
        for activity in activities:
            call = events[activity.pop("call")] if activity["call"] >= 0 else None
            events.append(_device_event(len(events), activity, began_ns, call))
        events._take_stacks_of_forward()
        events.sort(key=lambda event: (event.time_range.start, -event.time_range.end))
        return events

    def _take_stacks_of_forward(self) -> None:
        """Give the events of a backward pass the stack of the op that recorded their node."""
        forward: dict[tuple[int, int | None], list[str]] = {}
        for event in self:
            if event.stack and _node_of(event) is None:
                forward.setdefault((event.sequence_nr, event.thread), event.stack)
        for event in self if forward else ():
            node = _node_of(event)
            if node is not None:
                event.stack = forward.get((node.sequence_nr, node.fwd_thread), [])

    def _populate_cpu_children(self) -> None:
        """Find the parents of events that a program made itself: the parent is the shortest event of the same thread
        that contains the event. An event that another event contains only in part is not a child of the other.
        """
        threads: dict[tuple[int, int], list[FunctionEvent]] = defaultdict(list)
        for event in self:
            if not event.is_async and event.device_type == DeviceType.CPU:
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

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Sum events by name.

        Args:
            group_by_input_shapes: separate calls with different input shapes; the profile must have recorded shapes.
            group_by_stack_n: separate calls that differ in so many lines of their stacks; the profile must have
                recorded stacks.
            group_by_overload_name: has no effect, because the name of an event does not tell the overload.
        """
        averages: dict[tuple[Any, ...], FunctionEventAvg] = defaultdict(FunctionEventAvg)
        for event in self:
            shapes = str(event.input_shapes) if group_by_input_shapes else ""
            stack = tuple(event.stack[:group_by_stack_n])
            averages[event.key, event.node_id, event.device_type, shapes, stack].add(event)
        for average in averages.values():
            average.stack = average.stack[:group_by_stack_n]
        return self._like(averages.values(), with_shapes=group_by_input_shapes)

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """Return a table of the events, one event in each line.

        Args:
            sort_by: the attribute that sorts the lines, the largest first: ``"cpu_time_total"``,
                ``"self_cpu_time_total"``, ``"cuda_time_total"``, ``"self_cuda_time_total"``, ``"count"``,
                ``"cpu_time"``, ``"cuda_time"``, ``"cpu_memory_usage"``, ``"self_cpu_memory_usage"``,
                ``"cuda_memory_usage"``, ``"self_cuda_memory_usage"``; or one of the last six with ``device`` in place
                of ``cuda``. None keeps the order of the calls.
            row_limit: the largest number of lines; -1 means all.
            max_src_column_width, max_name_column_width, max_shapes_column_width: longer texts are truncated; None
                keeps them whole.
            header: a line above the table.
            top_level_events_only: leave out the events that have a parent.
            time_unit: ``"s"``, ``"ms"`` or ``"us"`` for all times; None chooses a unit for each.

        Raises:
            AttributeError: there is no such attribute.
            ValueError: there is no such unit.
        """
        return build_table(
            self,
            sort_by,
            row_limit,
            max_src_column_width,
            max_name_column_width,
            max_shapes_column_width,
            header,
            top_level_events_only,
            time_unit,
        )

    def total_average(self) -> FunctionEventAvg:
        """All events as one."""
        total = FunctionEventAvg()
        for event in self:
            total.key = None  # the events have different names
            total.add(event)
        total.key = "Total"
        return total

    def supported_export_stacks_metrics(self) -> list[str]:
        """Return the metrics that :meth:`export_stacks` takes."""
        return ["self_cpu_time_total", "self_cuda_time_total"]

    def export_stacks(self, path: str, metric: str) -> None:
        """Write the stack of each event with its time, as programs that draw flame graphs read them.

        A line has the frames, the outermost first, with semicolons between, and the time in microseconds.

        Args:
            path: the name of the file.
            metric: ``"self_cpu_time_total"`` or ``"self_cuda_time_total"``.

        Raises:
            ValueError: there is no such metric.
        """
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError(f"metric should be one of: {self.supported_export_stacks_metrics()}")
        separators = str.maketrans(" ;\t\n", "____")
        with open(path, "w") as file:
            for event in self:
                time = int(getattr(event, metric.replace("cuda", "device")))
                if event.stack and time > 0:
                    frames = ";".join(line.translate(separators) for line in reversed(event.stack))
                    file.write(f"{frames} {time}\n")

    def export_chrome_trace(self, path: str) -> None:
        """Write the events for ``chrome://tracing`` or https://ui.perfetto.dev.

        Each device is a row of its own, with a line for each stream. An arrow leads from the call that started a kernel
        to the kernel.

        Args:
            path: the name of the JSON file.
        """
        import json  # here, because `import reftorch` would pay for it

        trace: list[dict[str, Any]] = []
        for event in self:
            on_cpu = event.device_type == DeviceType.CPU
            times = {"ts": event.time_range.start, "dur": event.time_range.elapsed_us()}
            where = (
                {"pid": "CPU functions", "tid": event.thread}
                if on_cpu
                else {"pid": f"GPU {event.device_index}", "tid": f"stream {event.device_resource_id}"}
            )
            about = (
                {"Sequence number": event.sequence_nr, "Input Dims": event.input_shapes} if on_cpu else event.metadata
            )
            category = "kernel" if not on_cpu else "backward" if event.scope else "cpu_op"
            trace.append({"name": event.trace_name, "ph": "X", **times, **where, "cat": category, "args": about})
            if event.started_by is not None:
                arrow = {"name": "launch", "cat": "ac2g", "id": event.id}
                begin = event.started_by
                trace.append(
                    {**arrow, "ph": "s", "ts": begin.time_range.start, "pid": "CPU functions", "tid": begin.thread}
                )
                trace.append({**arrow, "ph": "f", "bp": "e", "ts": event.time_range.start, **where})
        with open(path, "w") as file:
            json.dump({"traceEvents": trace, "displayTimeUnit": "ms"}, file)

    def __str__(self) -> str:
        return self.table()


def _device_event(id: int, activity: dict[str, Any], began_ns: int, call: FunctionEvent | None) -> FunctionEvent:
    """Make the event of a kernel or a copy, and note it in the op that started it.

    Args:
        id: the number of the event.
        activity: what the device recorded; ``call`` is taken out.
        began_ns: the beginning of the profile.
        call: the call of CUDA's runtime that started it, if the calling thread was profiled.
    """
    name, device = activity.pop("name"), activity.pop("device")
    start, end = activity.pop("start_ns"), activity.pop("end_ns")
    event = FunctionEvent(
        id,
        name,
        0 if call is None else call.thread,
        (start - began_ns) / 1000,
        (end - began_ns) / 1000,
        use_device="cuda",
        device_type=DeviceType.CUDA,
        device_index=device,
        device_resource_id=activity["stream"],
        metadata=activity,
    )
    event.started_by = call
    if call is not None and call.cpu_parent is not None:
        call.cpu_parent.append_kernel(name, device, event.time_range.elapsed_us())
    return event


def _node_of(event: FunctionEvent) -> FunctionEvent | None:
    """The event itself or the nearest event around it that is of a backward pass."""
    around: FunctionEvent | None = event
    while around is not None and around.scope != 1:
        around = around.cpu_parent
    return around
