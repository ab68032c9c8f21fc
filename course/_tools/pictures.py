"""The pictures of the lessons that show source: the route a call takes, here and in PyTorch, and the map of the tree.

Mirrors: nothing in PyTorch: the course's pictures.
Leaves out: hand-placed drawings; both are made from names that must exist, so they cannot go stale.
"""

from __future__ import annotations

from dataclasses import dataclass

from course._tools.layout import on_disk
from course._tools.source import show_source
from reftorch.debug.common.svg import LINE, MUTED, Picture

# One colour for each floor of the house, the same in every chapter.
FLOORS = {
    "python": ("#ddf4ff", "#54aeff"),
    "binding": ("#fbefff", "#c297ff"),
    "dispatcher": ("#fff8c5", "#d4a72c"),
    "autograd": ("#ffebe9", "#ff8182"),
    "native": ("#dafbe1", "#4ac26b"),
    "kernel": ("#d5f2ee", "#2da197"),
    "core": ("#f6f8fa", "#afb8c1"),
}


@dataclass(frozen=True)
class Step:
    """One station of a route.

    Args:
        floor: one of `FLOORS`; it gives the colour.
        symbol: what is called, as the source names it, or any text where `path` is empty.
        path: the file it is defined in, from the root of the checkout.
        why: what happens there, in one short line.
    """

    floor: str
    symbol: str
    path: str = ""
    why: str = ""


def route(steps: list[Step], caption: str, *, are_calls: bool = True) -> Picture:
    """The stations of a call, from the top down, with the floor each lies on.

    Args:
        steps: the stations.
        caption: what to see.
        are_calls: whether an arrow leads from each station to the next one; not where a program calls each of them.

    Raises:
        LookupError: a station's file does not define its symbol (any more).
    """
    for step in steps:
        if step.path:
            show_source(step.path, step.symbol, nth=0)
    left, width, height, gap = 112, 668, 50, 20
    picture = Picture(left + width + 10, len(steps) * (height + gap) - gap + 20, caption)
    y = 10.0
    for position, step in enumerate(steps):
        fill, line = FLOORS[step.floor]
        first_of_floor = position == 0 or steps[position - 1].floor != step.floor
        if first_of_floor:
            picture.text(left - 14, y + height / 2 + 4, step.floor, size=12, fill=MUTED, anchor="end")
        picture.box(left, y, width, height, fill=fill, line=line)
        picture.text(left + 14, y + 21, step.symbol, mono=True, bold=True)
        picture.text(left + 14, y + 39, step.why, size=12)
        picture.text(left + width - 12, y + 21, step.path, size=11, mono=True, fill=MUTED, anchor="end")
        if position and are_calls:
            picture.arrow(left + 40, y - gap + 2, left + 40, y - 2)
        y += height + gap
    return picture


def lanes(steps: list[tuple[str, Step]], caption: str) -> Picture:
    """The stations of a way through several processes, from the top down, each in the lane of its process.

    Args:
        steps: for each station the name of its lane, and the station.
        caption: what to see.

    Raises:
        LookupError: a station's file does not define its symbol (any more).
    """
    names = list(dict.fromkeys(lane for lane, _ in steps))
    width, height, gap, aside = 400, 64, 16, 14
    picture = Picture(len(names) * (width + aside) + aside, 34 + len(steps) * (height + gap), caption)
    lefts = {name: aside + position * (width + aside) for position, name in enumerate(names)}
    for name, left in lefts.items():
        picture.box(left, 4, width, picture.height - 8, fill="#f6f8fa", line=LINE)
        picture.text(left + width / 2, 23, name, bold=True, anchor="middle")
    y = 34.0
    for position, (lane, step) in enumerate(steps):
        if step.path:
            show_source(step.path, step.symbol, nth=0)
        fill, line = FLOORS[step.floor]
        left = lefts[lane] + 10
        picture.box(left, y, width - 20, height, fill=fill, line=line)
        picture.text(left + 12, y + 20, step.symbol, mono=True, bold=True, size=12)
        picture.text(left + 12, y + 37, step.path, size=11, mono=True, fill=MUTED)
        picture.text(left + 12, y + 54, step.why, size=12)
        if position:
            start = lefts[steps[position - 1][0]] + width / 2
            picture.arrow(start, y - gap + 1, left - 10 + width / 2, y - 2)
        y += height + gap
    return picture


def beside(rows: list[tuple[Step, str, str]], caption: str) -> Picture:
    """The stations of a call here, each with its name and its file in PyTorch to the right, and below what happens.

    Raises:
        LookupError: a station's file does not define its symbol (any more).
    """
    left, width, height, gap = 10, 380, 64, 14
    picture = Picture(2 * width + 30, len(rows) * (height + gap) + 28, caption)
    picture.text(left + 12, 18, "here", size=12, fill=MUTED)
    picture.text(left + width + 22, 18, "in PyTorch 2.13", size=12, fill=MUTED)
    for position, (step, there, there_path) in enumerate(rows):
        if step.path:
            show_source(step.path, step.symbol, nth=0)
        fill, line = FLOORS[step.floor]
        y = 28 + position * (height + gap)
        for x, symbol, path in ((left, step.symbol, step.path), (left + width + 10, there, there_path)):
            picture.box(x, y, width, height, fill=fill, line=line)
            picture.text(x + 12, y + 20, symbol, mono=True, bold=True)
            picture.text(x + 12, y + 37, path, size=11, mono=True, fill=MUTED)
        picture.text(left + 12, y + 55, step.why, size=12)
        if position:
            picture.arrow(left + 30, y - gap + 1, left + 30, y - 1)
            picture.arrow(left + width + 40, y - gap + 1, left + width + 40, y - 1)
    return picture


def tree_map(entries: list[tuple[str, str, str, str]], caption: str) -> Picture:
    """Folders of the checkout beside PyTorch's: each entry is a floor, a folder here, one there, and what lies in it.

    Raises:
        LookupError: a folder does not exist (any more).
    """
    left, height, gap = 10, 36, 8
    picture = Picture(790, len(entries) * (height + gap) + 32, caption)
    picture.text(left + 12, 20, "here", size=12, fill=MUTED)
    picture.text(left + 206, 20, "in PyTorch", size=12, fill=MUTED)
    for position, (floor, here, there, what) in enumerate(entries):
        if not on_disk(here).is_dir():
            raise LookupError(f"{here}: no such folder in the checkout")
        fill, line = FLOORS[floor]
        y = 30 + position * (height + gap)
        picture.box(left, y, 770, height, fill=fill, line=line)
        picture.text(left + 12, y + 23, here, mono=True, bold=True)
        picture.text(left + 206, y + 23, there, mono=True, size=12)
        picture.text(left + 410, y + 23, what, size=12)
    return picture
