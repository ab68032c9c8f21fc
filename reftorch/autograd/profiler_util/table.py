"""The table of a profile.

Mirrors: torch/autograd/profiler_util.py (_build_table)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reftorch.autograd.profiler_util.event_list import EventList

__all__ = ["build_table", "written_time"]


def written_time(microseconds: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if abs(microseconds) >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


_TIME_UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}


def _memory(n: int) -> str:
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(n) >= size:
            return f"{n / size:.2f} {unit}"
    return f"{n} B"


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}%" if whole > 0 else "NaN"


def _shortened(path: str, width: int | None) -> str:
    """Cut the beginning of a path."""
    return path if width is None or len(path) <= width else "..." + path[len(path) - width + 3 :]


def build_table(
    events: EventList,
    sort_by: str | None,
    row_limit: int,
    max_src_column_width: int | None,
    max_name_column_width: int | None,
    max_shapes_column_width: int | None,
    header: str | None,
    top_level_events_only: bool,
    time_unit: str | None,
) -> str:
    """Return the text of the table; see ``EventList.table``."""
    if time_unit is not None and time_unit not in _TIME_UNITS:
        raise ValueError(f"table(): time_unit must be one of {[*_TIME_UNITS]}, not {time_unit!r}")
    attribute = None if sort_by is None else sort_by.replace("cuda", "device")
    rows = list(events) if attribute is None else sorted(events, key=lambda e: getattr(e, attribute), reverse=True)
    if top_level_events_only:
        rows = [event for event in rows if event.cpu_parent is None]
    rows = rows[: None if row_limit < 0 else row_limit]

    def time(microseconds: float) -> str:
        return (
            written_time(microseconds)
            if time_unit is None
            else f"{microseconds / _TIME_UNITS[time_unit]:.3f}{time_unit}"
        )

    def name(event: Any) -> str:
        width = max_name_column_width
        return event.key if width is None or len(event.key) <= width else event.key[: width - 3] + "..."

    cpu_total = events.self_cpu_time_total
    columns: list[tuple[str, Callable[[Any], str]]] = [
        ("Name", name),
        ("Self CPU %", lambda e: _percent(e.self_cpu_time_total, cpu_total)),
        ("Self CPU", lambda e: time(e.self_cpu_time_total)),
        ("CPU total %", lambda e: _percent(e.cpu_time_total, cpu_total)),
        ("CPU total", lambda e: time(e.cpu_time_total)),
        ("CPU time avg", lambda e: time(e.cpu_time)),
    ]
    device = "" if events.use_device is None else events.use_device.upper()
    # A kernel is an event of its own and belongs to the op that started the kernel, too: the sum counts the first.
    device_total = sum(e.self_device_time_total for e in events if e.device_type.name != "CPU")
    if device_total > 0:
        columns += [
            (f"Self {device}", lambda e: time(e.self_device_time_total)),
            (f"Self {device} %", lambda e: _percent(e.self_device_time_total, device_total)),
            (f"{device} total", lambda e: time(e.device_time_total)),
            (f"{device} time avg", lambda e: time(e.device_time)),
        ]
    if events.profile_memory:
        columns += [
            ("CPU Mem", lambda e: _memory(e.cpu_memory_usage)),
            ("Self CPU Mem", lambda e: _memory(e.self_cpu_memory_usage)),
        ]
        if device and any(event.self_device_memory_usage > 0 for event in events):
            columns += [
                (f"{device} Mem", lambda e: _memory(e.device_memory_usage)),
                (f"Self {device} Mem", lambda e: _memory(e.self_device_memory_usage)),
            ]
    columns.append(("# of Calls", lambda e: str(e.count)))
    if events.with_shapes:
        columns.append(("Input Shapes", lambda e: str(e.input_shapes)[:max_shapes_column_width]))
    counted = [event.flops for event in rows if event.flops > 0]
    if events.with_flops and counted:
        power = min(int(math.log10(min(counted)) / 3), 5)
        title = f"Total {('', 'K', 'M', 'G', 'T', 'P')[power]}FLOPs"
        columns.append((title, lambda e: f"{e.flops / 1000**power:.3f}" if e.flops > 0 else "--"))
    lines = [[title for title, _ in columns], *([text(event) for _, text in columns] for event in rows)]
    if any(event.stack for event in rows):
        lines = _with_stacks(lines, [event.stack for event in rows], max_src_column_width)
    total = [f"Self CPU time total: {time(cpu_total)}"]
    if device_total > 0:
        total.append(f"Self {device} time total: {time(device_total)}")
    return _ruled(lines, header, total)


def _with_stacks(lines: list[list[str]], stacks: list[list[str]], width: int | None) -> list[list[str]]:
    """Return the lines of a table with the stacks as a last column, each frame in a line of its own."""
    wider = [[*lines[0], "Source Location"]]
    for line, stack in zip(lines[1:], stacks, strict=True):
        frames = [_shortened(frame, width) for frame in stack] or [""]
        wider += [[*line, frames[0]], *([""] * len(line) + [frame] for frame in frames[1:])]
        wider.append([""] * (len(line) + 1))
    return wider


def _ruled(lines: list[list[str]], header: str | None, total: list[str]) -> str:
    """Return the text of a table whose first line has the titles. A column of stacks is aligned to the left."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = "  ".join("-" * width for width in widths)
    left = lines[0][-1] == "Source Location"
    text = []
    for line in lines:
        cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        text.append("  ".join([*cells[:-1], line[-1].ljust(widths[-1]) if left else cells[-1]]))
    head = [] if header is None else ["=" * len(rule), header]
    return "\n".join([*head, rule, text[0], rule, *text[1:], rule, *total, ""])
