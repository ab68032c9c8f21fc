"""A picture of rank against time, from time stamps that were taken while the ranks ran.

Mirrors: nothing in PyTorch, whose profiler writes traces for other programs to draw.
Left out: messages between two ranks; clocks of several machines, which do not agree.

Note [Time stamps of ranks]
Problem: the picture shall show what overlaps, so all events need one clock, and taking the times must not change them.
Trick: the thread of a group notes the times of each collective itself, in C++ (``takeTimes`` in ``ProcessGroup.h``), by
the clock of :func:`time.perf_counter`, which all processes of a machine share. The methods of the Reducer are wrapped
while a timeline records. Limits: a wrapped method takes some microseconds longer.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import reftorch.distributed as dist
from reftorch._thread_local import ThreadLocal
from reftorch.debug.common.display import scrub
from reftorch.debug.common.svg import INK, LINE, MUTED, Picture
from reftorch.debug.common.table import Report, Table, counted

EDGE, LEFT, WIDTH, LANE, GAP, LINE_HEIGHT = 16, 150, 960, 26, 14, 18
LETTER = 6.6  # the width of a letter of size 11
SPAN, WAIT = "#ddf4ff", "#fff1e5"
COLOURS = ("#8250df", "#1a7f37", "#bc4c00", "#0969da", "#cf222e", "#9a6700", "#bf3989", "#57606a")


@dataclass
class Span:
    """Something that took time in the program of a rank; times are those of :func:`time.perf_counter`."""

    text: str
    begin: float
    end: float


@dataclass
class Mark:
    """Something that happened at one moment."""

    text: str
    at: float


@dataclass
class Collective:
    """A collective: when the program called it, and when the thread of the group began and ended it.

    A rank that begins waits for the others inside the collective, so the times of a slow rank are shorter.
    """

    text: str
    called: float
    begin: float
    end: float
    failed: bool = False
    bucket: int | None = None  # of the Reducer


@dataclass
class Timeline(Report):
    """The events of one rank.

    Attributes:
        rank: its rank in the group.
        spans: what the program named with :meth:`span`, and the end of the Reducer's pass.
        marks: what the program named with :meth:`mark`, and the gradients that arrived at the Reducer.
        collectives: the collectives, in the order of their calls.
    """

    rank: int
    spans: list[Span] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    collectives: list[Collective] = field(default_factory=list)

    @contextmanager
    def span(self, text: str) -> Iterator[None]:
        """Return a context whose time is drawn as a box with ``text``."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.spans.append(Span(text, begin, time.perf_counter()))

    def mark(self, text: str) -> None:
        """Note that something happens now."""
        self.marks.append(Mark(text, time.perf_counter()))

    def gather(self, group: Any = None) -> list[Timeline]:
        """Return the timelines of all ranks that are processes; each rank calls the method after its recording."""
        everyone: list[Any] = [None] * dist.get_world_size(group)
        dist.all_gather_object(everyone, self, group=group)
        return everyone

    def first(self) -> float:
        return min([*(s.begin for s in self.spans), *(m.at for m in self.marks), *(c.called for c in self.collectives)])

    def last(self) -> float:
        return max([*(s.end for s in self.spans), *(m.at for m in self.marks), *(c.end for c in self.collectives)])

    def is_empty(self) -> bool:
        return not (self.spans or self.marks or self.collectives)

    def tables(self) -> list[Table]:
        if self.is_empty():
            return [Table(["what"], [], caption=f"rank {self.rank}: nothing was recorded")]
        start = self.first()
        rows = [
            *((s.begin, [s.text, "", _ms(s.begin - start), _ms(s.end - start)]) for s in self.spans),
            *((m.at, [m.text, "", _ms(m.at - start), ""]) for m in self.marks),
            *((c.called, [label(c), *(_ms(t - start) for t in (c.called, c.begin, c.end))]) for c in self.collectives),
        ]
        ordered = [row for _, row in sorted(rows, key=lambda pair: pair[0])]
        headers = ["what", "called, ms", "began, ms", "ended, ms"]
        return [Table(headers, ordered, caption=f"rank {self.rank}")]


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 3)


def label(collective: Collective) -> str:
    bucket = "" if collective.bucket is None else f"bucket {collective.bucket}: "
    return bucket + collective.text + (" (failed)" if collective.failed else "")


# --- recording -------------------------------------------------------------------------------------------------------

_recording = ThreadLocal()  # .timeline, .buckets: of the rank that a thread plays
_lock = threading.Lock()
_users = 0


@contextmanager
def rank_timeline(group: Any = None) -> Iterator[Timeline]:
    """Return a context that records when a rank calls, begins and ends collectives, and what its Reducer does.

    Each rank records for itself. Afterwards :func:`draw_rank_timeline` draws the timelines of all ranks: those that
    ``%%ranks`` has left, ``ranks[0].timeline`` and so on, or those of ``timeline.gather()`` if the ranks are processes.

    Args:
        group: the group whose collectives are recorded; the default group if None.

    Raises:
        ValueError: there is no default group.
        NotImplementedError: the group has another backend than gloo.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.debug import rank_timeline
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> with rank_timeline() as timeline:
        ...     dist.all_reduce(torch.ones(2))
        >>> [each.text for each in timeline.collectives]
        ['#1 all_reduce(SUM) of Float[2]']
        >>> dist.destroy_process_group()

    Mirrors nothing in PyTorch.
    """
    pg = dist.distributed_c10d._group_or_default_group(group)
    timeline, buckets = Timeline(pg.rank()), list[tuple[int, float, float]]()
    before = getattr(_recording, "timeline", None), getattr(_recording, "buckets", None)
    pg._take_times()
    pg._note_times(True)
    _recording.timeline, _recording.buckets = timeline, buckets
    try:
        with _wrapped_reducer():
            yield timeline
    finally:
        _recording.timeline, _recording.buckets = before
        pg._note_times(False)
        for text, _place, called, begin, end, failed in pg._take_times():
            bucket = next((number for number, start, stop in buckets if start <= called <= stop), None)
            timeline.collectives.append(Collective(text, called, begin, end, failed, bucket))


@contextmanager
def _wrapped_reducer() -> Iterator[None]:
    """Return a context in which the Reducer of a rank that records notes what it does."""
    global _users
    wrappers: dict[str, Callable[..., None]] = {
        "autograd_hook": _hook,
        "_all_reduce_bucket": _bucket,
        "finalize_backward": _finalize,
    }
    with _lock:
        if _users == 0:
            for name, wrapper in wrappers.items():
                _originals[name] = getattr(dist.Reducer, name)
                setattr(dist.Reducer, name, functools.wraps(_originals[name])(wrapper))
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                for name in wrappers:
                    setattr(dist.Reducer, name, _originals.pop(name))


_originals: dict[str, Callable[..., Any]] = {}


def _hook(reducer: Any, index: int) -> None:
    timeline = getattr(_recording, "timeline", None)
    if timeline is not None:
        timeline.mark(f"gradient of {reducer.names[index]}")
    _original("autograd_hook")(reducer, index)


def _bucket(reducer: Any, number: int) -> None:
    begin = time.perf_counter()
    _original("_all_reduce_bucket")(reducer, number)
    if getattr(_recording, "timeline", None) is not None:
        _recording.buckets.append((number, begin, time.perf_counter()))


def _finalize(reducer: Any) -> None:
    timeline = getattr(_recording, "timeline", None)
    if timeline is None:
        _original("finalize_backward")(reducer)
        return
    with timeline.span("wait"):
        _original("finalize_backward")(reducer)


def _original(name: str) -> Callable[..., Any]:
    return _originals.get(name) or getattr(dist.Reducer, name)


# --- drawing ---------------------------------------------------------------------------------------------------------


def draw_rank_timeline(*timelines: Timeline) -> Picture:
    """Draw what ranks did against time: an SVG picture for a notebook.

    Each rank has two lanes. The upper lane is the program: boxes for its spans, a grey line for each mark, such as the
    arrival of a gradient, and a coloured line for each call of a collective. The lower lane is the thread of the group:
    a box in the same colour from the beginning of the collective to its end. Boxes are numbered, and the list below the
    picture says what each number is.

    Args:
        timelines: one for each rank, as :func:`rank_timeline` records them.

    Returns:
        A picture: ``svg()`` is its text.

    Raises:
        ValueError: there is no timeline, or nothing was recorded.

    Example:
        >>> from reftorch.debug import draw_rank_timeline
        >>> from reftorch.debug.notebook.rank_timeline import Collective, Timeline
        >>> ranks = [Timeline(rank, collectives=[Collective("#1 barrier", 0.0, 0.1 * rank, 0.2)]) for rank in (0, 1)]
        >>> draw_rank_timeline(*ranks)
        [picture] 2 ranks, 1 collective

    Mirrors nothing in PyTorch.
    """
    recorded = [each for each in timelines if not each.is_empty()]
    if not recorded:
        raise ValueError("draw_rank_timeline: nothing was recorded. Hint: call collectives inside rank_timeline()")
    named = list(dict.fromkeys(label(each) for timeline in timelines for each in timeline.collectives))
    numbers = {text: number for number, text in enumerate(named, 1)}
    start, end = min(each.first() for each in recorded), max(each.last() for each in recorded)
    scale = (WIDTH - LEFT - EDGE) / max(end - start, 1e-6)

    def x_of(moment: float) -> float:
        return LEFT + (moment - start) * scale

    height = 2 * LANE + GAP
    caption = f"{counted(len(timelines), 'rank')}, {counted(len(named), 'collective')}"
    axis = EDGE + height * len(timelines)
    picture = Picture(WIDTH, axis + 2 * LINE_HEIGHT + LINE_HEIGHT * len(named) + EDGE, caption)
    for row, timeline in enumerate(timelines):
        _draw_rank(picture, timeline, EDGE + row * height, x_of, numbers)
    _draw_axis(picture, axis, end - start, scale)
    for text, number in numbers.items():
        y = axis + 2 * LINE_HEIGHT + number * LINE_HEIGHT
        picture.box(LEFT, y - 11, 14, 12, fill=_colour(number), line=_colour(number), r=2)
        picture.text(LEFT + 20, y, f"{number}  {scrub(text)}", size=11, mono=True)
    return picture


def _colour(number: int) -> str:
    return COLOURS[(number - 1) % len(COLOURS)]


def _draw_rank(
    picture: Picture, timeline: Timeline, y: float, x_of: Callable[[float], float], numbers: dict[str, int]
) -> None:
    picture.text(EDGE, y + 17, f"rank {timeline.rank}", bold=True)
    picture.text(LEFT - 8, y + 17, "program", size=11, fill=MUTED, anchor="end")
    picture.text(LEFT - 8, y + LANE + 17, "group's thread", size=11, fill=MUTED, anchor="end")
    for lane in (0, 1):
        picture.box(LEFT, y + lane * LANE, WIDTH - LEFT - EDGE, LANE, fill="none", r=0)
    for span in sorted(timeline.spans, key=lambda each: each.begin - each.end):  # the widest first: they may be nested
        fill = WAIT if span.text == "wait" else SPAN
        _draw_box(picture, x_of(span.begin), x_of(span.end), y + 3, LANE - 6, fill, span.text, INK)
    for mark in timeline.marks:
        picture.path([(x_of(mark.at), y + 3), (x_of(mark.at), y + LANE - 3)], line=MUTED, width=1)
    for each in timeline.collectives:
        number = numbers[label(each)]
        x = x_of(each.called)
        picture.path([(x, y + 1), (x, y + LANE)], line=_colour(number), width=2)
        short = str(number) if each.bucket is None else f"bucket {each.bucket}"
        wide = (x_of(each.end) - x_of(each.begin)) > len(short) * LETTER + 8
        text = short if wide else str(number)
        _draw_box(picture, x_of(each.begin), x_of(each.end), y + LANE + 3, LANE - 6, _colour(number), text, "#ffffff")


def _draw_box(picture: Picture, x1: float, x2: float, y: float, height: float, fill: str, text: str, ink: str) -> None:
    """Draw a box of at least a pixel, with its text if there is room for the text."""
    picture.box(x1, y, max(x2 - x1, 1), height, fill=fill, line=LINE, r=2)
    if x2 - x1 > len(text) * LETTER + 4:
        picture.text(x1 + 3, y + height - 6, text, size=11, fill=ink)


def _draw_axis(picture: Picture, y: float, seconds: float, scale: float) -> None:
    step = _step(1000 * seconds)
    digits = 0 if step >= 1 else 1 if step >= 0.1 else 2 if step >= 0.01 else 3
    for i in range(int(1000 * seconds / step) + 1):
        x = LEFT + i * step / 1000 * scale
        picture.path([(x, y - GAP + 2), (x, y - GAP + 8)], line=MUTED, width=1)
        picture.text(x, y + LINE_HEIGHT - GAP + 4, f"{i * step:.{digits}f}", size=11, fill=MUTED, anchor="middle")
    picture.text(EDGE, y + LINE_HEIGHT - GAP + 4, "milliseconds", size=11, fill=MUTED)


def _step(whole: float) -> float:
    """Return a distance of 1, 2 or 5 times a power of ten, about ten of which make the whole."""
    step = 1e-6
    for factor in _factors():
        step = 1e-6 * factor
        if whole / step <= 10:
            break
    return step


def _factors() -> Iterator[float]:
    power = 1.0
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10
