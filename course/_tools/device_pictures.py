"""The pictures of chapter 15: when the host and each stream work, and what the segments of the allocator contain.

Mirrors: nothing in PyTorch: the course's pictures.
Leaves out: work that the program does not time, such as what the library enqueues on streams of its own.

Both show what was measured: the times are those of the host's clock and of events, and the blocks are those of a
snapshot of the allocator.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import reftorch as torch
from reftorch.debug.common.svg import LINE, MUTED, Picture

HOST = "host"
SHADES = ("#ddf4ff", "#dafbe1", "#fff8c5", "#fbefff", "#d5f2ee", "#ffebe9")
STATES = {
    "active_allocated": ("#54aeff", "a tensor owns the block"),
    "active_pending_free": ("#d4a72c", "freed, and another stream still uses the block"),
    "inactive": ("#ffffff", "unused"),
}
MIB = 1 << 20


@dataclass(frozen=True)
class Span:
    """A piece of work: the lane that it is in, its name, and its beginning and end in milliseconds."""

    lane: str
    what: str
    begin: float
    end: float


def timeline(steps: Sequence[tuple[str, Any, Callable[[], Any]]], **streams: Any) -> list[Span]:
    """Run steps one after the other, and return when the host and the streams worked at each of them.

    Args:
        steps: for each step its name, the stream that is current for it (None for a step of the host alone), and the
            function. On a stream, the step has two spans: the call in the lane of the host, and its work in the lane of
            the stream, between two events. A step of the host alone has one.
        streams: the streams by the names of their lanes.
    """
    names = {stream: name for name, stream in streams.items()}
    origin, zero = _one_moment_on_both_clocks()
    calls, events = [], []
    for what, stream, function in steps:
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        with torch.cuda.stream(stream):
            begin = time.perf_counter()
            if stream is not None:
                marks[0].record()
            function()
            if stream is not None:
                marks[1].record()
                events.append((names[stream], what, *marks))
            calls.append(Span(HOST, what, (begin - zero) * 1e3, (time.perf_counter() - zero) * 1e3))
    torch.cuda.synchronize()
    return [*calls, *(Span(lane, what, origin.elapsed_time(a), origin.elapsed_time(b)) for lane, what, a, b in events)]


def _one_moment_on_both_clocks() -> tuple[Any, float]:
    """An event that an idle stream has passed, and the time of the host at which it passed.

    The host knows only that the event passed between two readings of its clock. So the nearest two of ten are taken.
    """
    tries = []
    for _ in range(10):
        event = torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        before = time.perf_counter()
        event.record()
        event.synchronize()
        after = time.perf_counter()
        tries.append((after - before, (before + after) / 2, event))
    _, moment, event = min(tries, key=lambda each: each[0])
    return event, moment


def stream_lanes(spans: Sequence[Span], caption: str) -> Picture:
    """A lane for the host and for each stream, from left to right in milliseconds; a step has one colour in all lanes.

    A call of the host may be a thin line: it takes microseconds, and the work takes milliseconds.
    """
    left, width, row, top = 96, 640, 46, 30
    lanes = [HOST, *sorted({span.lane for span in spans} - {HOST})]
    steps = list(dict.fromkeys(span.what for span in spans))
    picture = Picture(left + width + 24, top + row * len(lanes) + 30 + 20 * len(steps) + 8, caption)
    last = max(span.end for span in spans)
    for position, lane in enumerate(lanes):
        y = top + position * row
        picture.text(left - 12, y + 24, lane, bold=True, anchor="end")
        picture.path([(left, y + row - 6), (left + width, y + row - 6)], line=LINE, width=0.5)
    bottom = top + row * len(lanes)
    for quarter in range(5):
        x = left + width * quarter / 4
        picture.path([(x, top - 8), (x, bottom)], line=LINE, width=0.5)
        picture.text(x, bottom + 14, f"{last * quarter / 4:.3g} ms", size=11, fill=MUTED, anchor="middle")
    for span in spans:
        x = left + width * max(span.begin, 0) / last
        wide = max(width * (span.end - span.begin) / last, 1.5)
        fill = SHADES[steps.index(span.what) % len(SHADES)]
        line = MUTED if wide > 4 else "#0969da"
        picture.box(min(x, left + width - wide), top + lanes.index(span.lane) * row + 4, wide, row - 14, fill=fill,
                    line=line, r=0)  # fmt: skip
    for position, what in enumerate(steps):
        y = bottom + 30 + position * 20
        picture.box(left, y, 14, 12, fill=SHADES[position % len(SHADES)], line=MUTED, r=2)
        picture.text(left + 22, y + 11, what, size=12, mono=True)
    return picture


def segments(caption: str, device: int = 0) -> Picture:
    """The segments of the caching allocator, one bar for each, with their blocks; a scale of its own for small ones.

    Raises:
        ValueError: the allocator has no segment on the device.
    """
    found = [each for each in torch.cuda.memory_snapshot() if each["device"] == device]
    if not found:
        raise ValueError("segments: the allocator has no segment on this device")
    left, width, row = 128, 600, 30
    picture = Picture(left + width + 24, 14 + row * len(found) + 30, caption)
    largest = {kind: max(s["total_size"] for s in found if s["segment_type"] == kind)
               for kind in {s["segment_type"] for s in found}}  # fmt: skip
    for position, segment in enumerate(found):
        y, x = 10 + position * row, float(left)
        scale = width / largest[segment["segment_type"]]
        label = f"{segment['segment_type']}, {segment['total_size'] / MIB:g} MiB"
        picture.text(left - 10, y + 15, label, size=12, anchor="end")
        for block in segment["blocks"]:
            wide = block["size"] * scale
            picture.box(x, y, max(wide, 1.0), row - 10, fill=STATES[block["state"]][0], line=MUTED, r=0)
            if wide > 64:
                size = f"{block['size'] / MIB:.3g} MiB" if block["size"] >= MIB / 10 else f"{block['size']} B"
                picture.text(x + wide / 2, y + 14, size, size=11, anchor="middle")
            x += wide
    y, x = 14 + row * len(found), float(left)
    there = {block["state"] for segment in found for block in segment["blocks"]}
    for fill, what in (STATES[state] for state in STATES if state in there):
        picture.box(x, y, 14, 12, fill=fill, line=MUTED, r=2)
        picture.text(x + 20, y + 11, what, size=12, fill=MUTED)
        x += 40 + 7 * len(what)
    return picture
