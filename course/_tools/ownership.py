"""Pictures of what points to what: boxes with arrows that own or only know, and tensors with their version counters.

Mirrors: nothing in PyTorch: the course's pictures.
Leaves out: layout; a lesson gives each box its place in a grid. `graph` lays out a whole backward graph by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from course._tools.pictures import FLOORS
from reftorch import _C
from reftorch.debug.common.svg import MUTED, PAPER, Picture

LINE, PAD, LABEL = 17, 12, 11


class Thing(NamedTuple):
    """A box of the picture.

    Args:
        column, row: the place in the grid, counted from 0 at the upper left; halves are allowed.
        title: the name, set as code.
        text: further lines, parted by newlines.
        floor: one of `FLOORS`; it gives the colour.
    """

    column: float
    row: float
    title: str
    text: str = ""
    floor: str = "core"


class Pointer(NamedTuple):
    """An arrow from one box to another; a weak pointer does not keep alive what it points to, and is drawn dashed."""

    start: str
    end: str
    label: str = ""
    weak: bool = False


def pointers(
    things: Mapping[str, Thing],
    arrows: Sequence[Pointer | tuple[Any, ...]],
    caption: str,
    *,
    width: float = 190,
    gap: float = 90,
    between: float = 46,
) -> Picture:
    """Boxes in a grid, and who points to whom: a full line owns, a dashed line is weak.

    Args:
        things: the boxes by the names that the arrows use.
        arrows: `Pointer`s, or tuples of their fields.
        caption: what to see.
        width, gap, between: of a box, between two columns, between two rows.

    Raises:
        KeyError: an arrow names no box.
    """
    lines = max(len(thing.text.splitlines()) for thing in things.values())
    height = 2 * PAD + LINE * (1 + lines)
    places = {
        name: (PAD + thing.column * (width + gap), PAD + thing.row * (height + between))
        for name, thing in things.items()
    }
    right = max(x for x, _ in places.values()) + width + PAD
    bottom = max(y for _, y in places.values()) + height + PAD
    picture = Picture(right, bottom + 22, caption)
    for name, thing in things.items():
        x, y = places[name]
        fill, line = FLOORS[thing.floor]
        picture.box(x, y, width, height, fill=fill, line=line)
        picture.text(x + PAD, y + PAD + 12, thing.title, size=12, mono=True, bold=True)
        for number, text in enumerate(thing.text.splitlines(), start=1):
            picture.text(x + PAD, y + PAD + 12 + number * LINE, text, size=12)
    all_arrows = [Pointer(*arrow) for arrow in arrows]
    for start, end, label, weak in all_arrows:
        back = any(arrow.start == end and arrow.end == start for arrow in all_arrows)
        aside = (9 if start < end else -9) if back else 0
        _arrow(picture, places[start], places[end], (width, height), label, weak, aside)
    picture.arrow(PAD, bottom + 10, PAD + 40, bottom + 10)
    picture.text(PAD + 46, bottom + 14, "owns", size=12, fill=MUTED)
    picture.arrow(PAD + 100, bottom + 10, PAD + 140, bottom + 10, dashed=True)
    picture.text(PAD + 146, bottom + 14, "knows, and does not keep alive (weak)", size=12, fill=MUTED)
    return picture


def _arrow(
    picture: Picture,
    start: tuple[float, float],
    end: tuple[float, float],
    size: tuple[float, float],
    label: str,
    weak: bool,
    aside: float,
) -> None:
    """A straight arrow from the edge of one box to the edge of another; `aside` moves it where another runs back."""
    width, height = size
    x1, y1 = start[0] + width / 2, start[1] + height / 2
    x2, y2 = end[0] + width / 2, end[1] + height / 2
    dx, dy = x2 - x1, y2 - y1
    reach = min(width / 2 / abs(dx) if dx else 9.0, height / 2 / abs(dy) if dy else 9.0)
    if abs(dx) * height > abs(dy) * width:
        y1, y2 = y1 + aside, y2 + aside
    else:
        x1, x2 = x1 + 3 * aside, x2 + 3 * aside
    first = (x1 + dx * reach, y1 + dy * reach)
    last = (x2 - dx * reach, y2 - dy * reach)
    picture.arrow(*first, *last, dashed=weak)
    if label:
        x, y = (first[0] + last[0]) / 2, (first[1] + last[1]) / 2
        y += (-9 if aside <= 0 else 9) if dy == 0 else 0
        wide = 6.4 * len(label) + 4
        picture.box(x - wide / 2, y - 8, wide, 15, fill=PAPER, line=PAPER, r=2)
        picture.text(x, y + 4, label, size=LABEL, fill=MUTED, anchor="middle")


def version_counters(caption: str, **tensors: Any) -> Picture:
    """Draw each tensor with the version counter and the storage that the tensor points to.

    Which tensors share a counter is found out by moving each counter and looking who sees the step; every counter gets
    its number back.
    """
    counters = _shared_counters(tensors)
    addresses = list(dict.fromkeys(tensor.untyped_storage().data_ptr() for tensor in tensors.values()))
    storages = [[name for name in tensors if _address(tensors[name]) == address] for address in addresses]
    row, rows, width, gap = 44, len(tensors), 150, 110
    picture = Picture(3 * width + 2 * gap + 2 * PAD, rows * row + 2 * PAD + 24, caption)
    columns = [PAD + position * (width + gap) for position in range(3)]
    for x, title in zip(columns, ("version counter", "tensor", "memory"), strict=True):
        picture.text(x, PAD + 10, title, size=12, fill=MUTED)
    top = {name: PAD + 22 + position * row for position, name in enumerate(tensors)}
    for name, y in top.items():
        picture.box(columns[1], y, width, 32, fill=FLOORS["native"][0], line=FLOORS["native"][1])
        picture.text(columns[1] + PAD, y + 20, name, size=12, mono=True, bold=True)
    for group in counters:
        y = sum(top[name] for name in group) / len(group)
        picture.box(columns[0], y, width, 32, fill=FLOORS["dispatcher"][0], line=FLOORS["dispatcher"][1])
        picture.text(columns[0] + PAD, y + 20, f"version {tensors[group[0]]._version}", size=12, mono=True, bold=True)
        for name in group:
            picture.arrow(columns[1], top[name] + 16, columns[0] + width + 2, y + 16)
    for group in storages:
        y = sum(top[name] for name in group) / len(group)
        picture.box(columns[2], y, width, 32, fill=FLOORS["core"][0], line=FLOORS["core"][1])
        size = tensors[group[0]].untyped_storage().nbytes()
        picture.text(columns[2] + PAD, y + 20, f"{size} bytes", size=12, mono=True)
        for name in group:
            picture.arrow(columns[1] + width, top[name] + 16, columns[2] - 2, y + 16)
    return picture


def _address(tensor: Any) -> int:
    return int(tensor.untyped_storage().data_ptr())


def _shared_counters(tensors: Mapping[str, Any]) -> list[list[str]]:
    """The names of the tensors, in groups that share one version counter."""
    groups: list[list[str]] = []
    for name, tensor in tensors.items():
        if any(name in group for group in groups):
            continue
        before = {other: each._version for other, each in tensors.items()}
        _C._autograd._increment_version(tensor)
        groups.append([other for other, each in tensors.items() if each._version != before[other]])
        _C._autograd._unsafe_set_version_counter((tensor,), (before[name],))
    return groups
