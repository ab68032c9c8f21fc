"""Pictures and tables of a snapshot of the allocator, see ``torch.cuda.memory._snapshot``.

The pages contain their pictures as SVG, so they need no network and no script.

Mirrors: torch/cuda/_memory_viz.py
Leaves out: the command line, the comparison of two snapshots, and PyTorch's page, which loads its code from the
    network. A file of ``torch.cuda.memory._dump_snapshot`` can be dropped on that page, https://pytorch.org/memory_viz.
"""

from __future__ import annotations

import html
import json
from collections import defaultdict
from typing import Any

__all__ = [
    "calc_active",
    "format_flamegraph",
    "memory",
    "profile_plot",
    "segment_plot",
    "segments",
    "segsum",
    "trace",
    "trace_plot",
]

_WIDTH, _ROW = 1000, 18
_COLOURS = {"active_allocated": "#4c78a8", "active_pending_free": "#f58518", "inactive": "#e0e0e0"}


def _format_size(num: float) -> str:
    """Return a number of bytes as a text such as ``"1.5KiB"``."""
    for unit in ("", "Ki", "Mi", "Gi", "Ti", "Pi"):
        if abs(num) < 1024.0:
            return f"{num:3.1f}{unit}B"
        num /= 1024.0
    return f"{num:.1f}EiB"


def calc_active(seg: dict[str, Any]) -> int:
    """Return the number of bytes of a segment that tensors own.

    Mirrors torch/cuda/_memory_viz.py, ``calc_active``.
    """
    return sum(block["size"] for block in seg["blocks"] if block["state"] == "active_allocated")


def _place(frames: list[dict[str, Any]]) -> str:
    """Return the innermost place in the program, or a text that says that none was recorded."""
    if not frames:
        return "<no place was recorded>"
    frame = frames[0]
    return f"{frame['filename']}:{frame['line']} {frame['name']}"


def _stack(frames: list[dict[str, Any]]) -> str:
    return "\n".join(f"{frame['filename']}:{frame['line']} {frame['name']}" for frame in frames)


def segsum(data: dict[str, Any]) -> str:
    """Return a table with a line for each segment, in which each character stands for an equal part of the segment.

    A digit says how many tenths of the part tensors own, and a blank that nobody uses the part.

    Args:
        data: a snapshot.

    Example:
        >>> from reftorch.cuda._memory_viz import segsum
        >>> blocks = [{"size": 1024, "state": "active_allocated"}, {"size": 1024, "state": "inactive"}]
        >>> segment = {"address": 0, "total_size": 2048, "stream": 0, "segment_type": "small", "blocks": blocks}
        >>> print(segsum({"segments": [segment]}).splitlines()[1][:6])
        small
        >>> "1.0KiB of 2.0KiB" in segsum({"segments": [segment]})
        True

    Mirrors torch/cuda/_memory_viz.py, ``segsum``.
    """
    parts = 40
    lines = [f"{'pool':6} {'stream':>6} {'in use':>24}  [{'parts':{parts}}]"]
    for seg in sorted(data["segments"], key=lambda each: (each["total_size"], calc_active(each))):
        used = [0.0] * parts
        step, start = seg["total_size"] / parts, 0
        for block in seg["blocks"]:
            if block["state"] == "active_allocated":
                for part in range(parts):
                    low, high = max(start, part * step), min(start + block["size"], (part + 1) * step)
                    used[part] += max(high - low, 0)
            start += block["size"]
        marks = "".join(" " if bytes_ == 0 else str(min(9, int(10 * bytes_ / step))) for bytes_ in used)
        share = f"{_format_size(calc_active(seg))} of {_format_size(seg['total_size'])}"
        lines.append(f"{seg['segment_type']:6} {seg['stream']:>6} {share:>24}  [{marks}]")
    total = sum(seg["total_size"] for seg in data["segments"])
    lines.append(f"{len(data['segments'])} segments, {_format_size(total)}")
    return "\n".join(lines) + "\n"


def trace(data: dict[str, Any]) -> str:
    """Return the history of a snapshot as a text with a line for each event.

    Mirrors torch/cuda/_memory_viz.py, ``trace``.
    """
    lines = []
    for device, events in enumerate(data["device_traces"]):
        if events:
            lines.append(f"Device {device} ----------------")
        for event in events:
            where = event["addr"] if "addr" in event else event.get("device_free", 0)
            place = f"  # {_place(event['frames'])}" if event["frames"] else ""
            size = _format_size(event["size"])
            lines.append(f"{event['action']:14} {where:#x} {size:>10} stream {event['stream']}{place}")
    return "\n".join(lines) + "\n"


def format_flamegraph(flamegraph_lines: str, flamegraph_script: Any = None) -> str:
    """Return an SVG of lines such as ``outer;inner 12``: bars whose widths are the numbers, callers below.

    Args:
        flamegraph_lines: the lines.
        flamegraph_script: has no effect: the picture is made here and not by a script.

    Example:
        >>> from reftorch.cuda._memory_viz import format_flamegraph
        >>> format_flamegraph("main;step 10\\nmain;loss 20\\n").startswith("<svg")
        True

    Mirrors torch/cuda/_memory_viz.py, ``format_flamegraph``.
    """
    rows = []
    for line in flamegraph_lines.splitlines():
        names, _, number = line.rpartition(" ")
        if names:
            rows.append((names.split(";"), float(number)))
    total = sum(number for _, number in rows) or 1.0
    depth = max((len(names) for names, _ in rows), default=1)
    bars: list[str] = []

    def draw(group: list[tuple[list[str], float]], level: int, left: float) -> None:
        sums: dict[str, float] = defaultdict(float)
        members: dict[str, list[tuple[list[str], float]]] = defaultdict(list)
        for names, number in group:
            if len(names) > level:
                sums[names[level]] += number
                members[names[level]].append((names, number))
        for name, number in sums.items():
            width = _WIDTH * number / total
            title = html.escape(f"{name} {_format_size(number)}")
            text = html.escape(name[-int(width / 7) :]) if width > 30 else ""
            top = (depth - 1 - level) * _ROW
            bars.append(
                f'<g><title>{title}</title><rect x="{left:.2f}" y="{top}" width="{width:.2f}" height="{_ROW - 1}" '
                f'fill="hsl({hash(name) % 60}, 80%, 70%)"/><text x="{left + 3:.2f}" y="{top + 13}" '
                f'font-size="11" font-family="monospace">{text}</text></g>'
            )
            draw(members[name], level + 1, left)
            left += width

    draw(rows, 0, 0.0)
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{depth * _ROW}">{"".join(bars)}</svg>'


def _block_lines(prefix: str, blocks: list[dict[str, Any]]) -> list[str]:
    lines = []
    for block in blocks:
        frames = block.get("frames") or []
        places = [f"{frame['filename']}:{frame['line']}:{frame['name']}" for frame in reversed(frames)]
        names = [prefix, block["state"], *(place.replace(";", ",") for place in places)]
        lines.append(f"{';'.join(names)} {block['size']}")
    return lines


def segments(snapshot: dict[str, Any], format_flamegraph: Any = format_flamegraph) -> str:
    """Return a picture of the segments: one bar for each, above it its blocks, and above them their places.

    Mirrors torch/cuda/_memory_viz.py, ``segments``.
    """
    lines = []
    for seg in snapshot["segments"]:
        lines += _block_lines(f"stream_{seg['stream']};seg_{seg['address']:#x}", seg["blocks"])
    return format_flamegraph("\n".join(lines))


def memory(snapshot: dict[str, Any], format_flamegraph: Any = format_flamegraph) -> str:
    """Return a picture of the memory by state and by the places in the program that asked for it.

    Mirrors torch/cuda/_memory_viz.py, ``memory``.
    """
    lines = []
    for seg in snapshot["segments"]:
        lines += _block_lines(f"stream_{seg['stream']}", seg["blocks"])
    return format_flamegraph("\n".join(lines))


def _page(title: str, body: str, data: Any) -> str:
    # The snapshot itself is a part of the page, for programs that read it. "</" would end the script early.
    text = json.dumps(data).replace("</", "<\\/")
    return (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{title}</title></head><body><h2>{title}</h2>{body}'
        f'<script type="application/json" id="snapshot">{text}</script></body></html>'
    )


def _device_of(data: dict[str, Any], device: int | None) -> int:
    """Return ``device``, or the one device with a history. Raises ValueError if several devices have one."""
    if device is not None:
        return device
    busy = [index for index, events in enumerate(data["device_traces"]) if events]
    if len(busy) > 1:
        raise ValueError(f"there is a history of the devices {busy}; choose one of them with device=")
    return busy[0] if busy else 0


def _without_freed(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out the events of blocks that were freed again."""
    alive: dict[int, int] = {}
    kept = [False] * len(events)
    for place, event in enumerate(events):
        if event["action"] == "alloc":
            alive[event["addr"]] = place
        elif event["action"] == "free_completed":
            alive.pop(event["addr"], None)
    for place in alive.values():
        kept[place] = True
    return [event for event, keep in zip(events, kept, strict=True) if keep]


def trace_plot(
    data: dict[str, Any], device: int | None = None, plot_segments: bool = False, filter_freed: bool = False
) -> str:
    """Return a page with a picture of the memory in use after each event of the history.

    Args:
        data: a snapshot with a history.
        device: the number of the device; None means the one that has a history.
        plot_segments: show the memory of the segments instead of that of the tensors.
        filter_freed: leave out the tensors that were freed later.

    Raises:
        ValueError: several devices have a history, and ``device`` is None.

    Example:
        >>> from reftorch.cuda._memory_viz import trace_plot
        >>> event = {"action": "alloc", "addr": 512, "size": 100, "stream": 0, "frames": []}
        >>> "<svg" in trace_plot({"device_traces": [[event]], "segments": []})
        True

    Mirrors torch/cuda/_memory_viz.py, ``trace_plot``.
    """
    device = _device_of(data, device)
    events = data["device_traces"][device] if device < len(data["device_traces"]) else []
    if filter_freed:
        events = _without_freed(events)
    more, less = ("segment_alloc", "segment_free") if plot_segments else ("alloc", "free_completed")
    levels, now = [], 0
    for event in events:
        if event["action"] in (more, less):
            now += event["size"] if event["action"] == more else -event["size"]
            levels.append((now, event))
    highest = max((level for level, _ in levels), default=1) or 1
    step, height = _WIDTH / max(len(levels), 1), 300
    bars = []
    for place, (level, event) in enumerate(levels):
        tall = height * max(level, 0) / highest
        what = f"{_format_size(level)} after {event['action']} of {event['size']} bytes"
        title = html.escape(f"{what}\n{_stack(event['frames'])}")
        bars.append(
            f'<rect x="{place * step:.2f}" y="{height - tall:.2f}" width="{max(step, 0.5):.2f}" height="{tall:.2f}" '
            f'fill="{"#4c78a8" if event["action"] == more else "#9ecae9"}"><title>{title}</title></rect>'
        )
    body = (
        f"<p>Device {device}: {len(levels)} events, at most {_format_size(highest)}.</p>"
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}">{"".join(bars)}</svg>'
    )
    return _page("Active memory over time", body, data)


def segment_plot(data: Any, device: int | None = None) -> str:
    """Return a page with a picture of the segments: a row for each, in which a block is as wide as its share.

    Blue blocks belong to tensors, orange ones to streams that still use them, and grey ones are unused.

    Mirrors torch/cuda/_memory_viz.py, ``segment_plot``.
    """
    shown = [seg for seg in data["segments"] if device is None or seg["device"] == device]
    largest = max((seg["total_size"] for seg in shown), default=1)
    rows = []
    for number, seg in enumerate(shown):
        left = 0.0
        for block in seg["blocks"]:
            width = _WIDTH * block["size"] / largest
            title = html.escape(f"{block['state']}, {_format_size(block['size'])}\n{_stack(block.get('frames') or [])}")
            rows.append(
                f'<rect x="{left:.2f}" y="{number * _ROW}" width="{width:.2f}" height="{_ROW - 3}" stroke="white" '
                f'fill="{_COLOURS[block["state"]]}"><title>{title}</title></rect>'
            )
            left += width
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{max(len(shown), 1) * _ROW}">'
        f"{''.join(rows)}</svg>"
    )
    return _page("Segments", f"<p>{len(shown)} segments.</p>{picture}<pre>{html.escape(segsum(data))}</pre>", data)


def _profile_to_snapshot(profile: Any) -> dict[str, Any]:
    """Return a snapshot with the history of the memory that a profile of ``torch.profiler`` has seen.

    The profile must have been made with ``profile_memory=True``. A profile knows how many bytes each op has taken or
    given back in sum and no addresses, so each op that takes memory becomes one block.

    Mirrors torch/cuda/_memory_viz.py, ``_profile_to_snapshot``.
    """
    events: list[dict[str, Any]] = []
    address = 0
    for op in profile.events():
        size = getattr(op, "self_device_memory_usage", 0) or getattr(op, "self_cpu_memory_usage", 0)
        if size:
            stack = [{"filename": line, "line": 0, "name": op.name} for line in getattr(op, "stack", None) or ()]
            events.append(
                {
                    "action": "alloc" if size > 0 else "free_completed",
                    "addr": address,
                    "size": abs(size),
                    "stream": 0,
                    "category": "unknown",
                    "frames": stack or [{"filename": "op", "line": 0, "name": op.name}],
                }
            )
            address += abs(size)
    return {"device_traces": [events], "segments": []}


def profile_plot(profile: Any, device: Any = None) -> str:
    """Return the page of :func:`trace_plot` for a profile of ``torch.profiler`` with ``profile_memory=True``.

    Args:
        profile: the profile.
        device: has no effect: a profile does not say to which device an op's memory belongs.

    Mirrors torch/cuda/_memory_viz.py, ``profile_plot``.
    """
    return trace_plot(_profile_to_snapshot(profile), device=0)
