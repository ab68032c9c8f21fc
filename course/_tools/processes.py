"""The picture of a process and of those that it has started: which of them is the one to attach to.

Mirrors: nothing in PyTorch: the course's pictures.
Leaves out: finding the processes and asking them; the lesson that shows the picture does that itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from reftorch.debug.common.svg import LINE, MUTED, PAPER, Picture

FOUND = ("#d5f2ee", "#2da197")


def process_tree(
    pid: int, children: Callable[[int], Iterable[int]], is_the_one: Callable[[int], bool], caption: str
) -> Picture:
    """The processes from `pid` down, each by its name, and which of them is the one.

    Args:
        pid: the process at the top.
        children: the processes that one has started.
        is_the_one: whether it is the one that is looked for.
        caption: the picture in words.
    """
    rows = []
    pending = [(pid, 0)]
    while pending:
        each, depth = pending.pop()
        name = Path(f"/proc/{each}/comm").read_text().strip()
        rows.append((name, depth, is_the_one(each)))
        pending += [(child, depth + 1) for child in sorted(children(each), reverse=True)]
    indent, width, height, gap = 60, 330, 34, 12
    deepest = max(depth for _, depth, _ in rows)
    picture = Picture(20 + deepest * indent + width, len(rows) * (height + gap) + 8, caption)
    last_of_depth = {}
    for position, (name, depth, found) in enumerate(rows):
        x, y = 10 + depth * indent, 8 + position * (height + gap)
        fill, line = FOUND if found else (PAPER, LINE)
        picture.box(x, y, width, height, fill=fill, line=line)
        picture.text(x + 12, y + 22, name, mono=True, bold=True)
        said = "has the library: attach here" if found else "has not loaded the library"
        picture.text(x + width - 12, y + 22, said, size=12, fill=MUTED, anchor="end")
        last_of_depth[depth] = y + height
        if depth:
            corner = x - indent + 30
            picture.path([(corner, last_of_depth[depth - 1]), (corner, y + height / 2)], line=MUTED)
            picture.arrow(corner, y + height / 2, x - 2, y + height / 2)
    return picture
