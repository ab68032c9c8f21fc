"""The pictures of the way to a kernel: key sets over the row of an op, and the order in which a loop walks memory.

Mirrors: nothing in PyTorch: the course's pictures.
Leaves out: rows of devices that no operand is on, and loops of more than two dimensions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import reftorch
from course._tools.plots import SHADES
from reftorch.debug.common.svg import LINE, MUTED, PAPER, Picture

DEVICES = ("CPU", "CUDA", "Meta")
CHOSEN, SWITCHED_OFF = "#aceebb", "#ffebe9"
ROW = re.compile(r"^(\w+): registered at (\S+?):\d+ \[([\w ]+)\]")
CELL, HEIGHT, LEFT = 52, 34, 14


def rows_of(op: str) -> dict[str, str]:
    """Return for each filled row of an op the file and the kind of its kernel, as the process has them now."""
    table = reftorch._C._dispatch_dump_table(op)
    found = [ROW.match(line) for line in table.splitlines()]
    return {match[1]: f"{match[2].rsplit('/', 1)[1]}, {match[3]}" for match in found if match}


def kernel_row(op: str, caption: str, *, without: Sequence[str] = (), **tensors: Any) -> Picture:
    """The table of an op with the keys of some tensors beside it; the row that a call takes is green.

    Args:
        op: the op's name with its overload, as "aten::add.Tensor".
        caption: what to see.
        without: the keys that the thread has switched off, as inside the kernel of Autograd.
        tensors: the tensors of the call, by the names that the columns get.
    """
    sets = {name: str(reftorch._C._dispatch_keys(tensor)) for name, tensor in tensors.items()}
    keys = {name: re.findall(r"\w+", text.partition("(")[2]) for name, text in sets.items()}
    filled = rows_of(op)
    union = {key for each in keys.values() for key in each}
    order = [key for key in filled if key not in DEVICES or key in union]
    order.reverse()  # the dump begins with the lowest key
    chosen = next(key for key in order if key in union and key not in without)
    column, name_width = 58, 250
    table = LEFT + name_width + column * len(keys) + 20
    picture = Picture(table + 330, 34 + len(order) * HEIGHT + 28, caption)
    for i, name in enumerate(keys):
        x = LEFT + name_width + column * i + column / 2
        picture.text(x, 22, name, mono=True, bold=True, anchor="middle")
    picture.text(table + 12, 22, f"the row of {op}", size=12, fill=MUTED)
    for i, key in enumerate(order):
        y = 34 + i * HEIGHT
        picture.text(LEFT, y + 21, key, size=12, mono=True, bold=key == chosen)
        for j, each in enumerate(keys.values()):
            x = LEFT + name_width + column * j + column / 2
            has = key in each
            off = has and key in without
            picture.box(x - 13, y + 5, 26, 22, fill=SWITCHED_OFF if off else SHADES[0] if has else PAPER, r=4)
            picture.text(x, y + 20, "off" if off else "1" if has else "", size=11, mono=True, anchor="middle")
        picture.box(table, y + 2, 318, HEIGHT - 4, fill=CHOSEN if key == chosen else PAPER, line=LINE, r=4)
        picture.text(table + 10, y + 21, filled[key], size=11, mono=True)
    picture.text(LEFT, 34 + len(order) * HEIGHT + 18, "highest key on top", size=11, fill=MUTED)
    return picture


def loop_order(caption: str, shape: Sequence[int], strides: Mapping[str, Sequence[int]]) -> Picture:
    """The memory of each operand as a strip; every cell says at which steps of the loop it is reached.

    Args:
        caption: what to see.
        shape: the sizes of the loop, the fastest dimension first.
        strides: for each operand its strides in that order, in elements.
    """
    steps = [(i, j) for j in range(shape[1]) for i in range(shape[0])]
    visits = {name: [i * stride[0] + j * stride[1] for i, j in steps] for name, stride in strides.items()}
    longest = max(max(each) + 1 for each in visits.values())
    name_width = 130
    picture = Picture(max(LEFT + name_width + longest * CELL + 16, 480), len(visits) * (HEIGHT + 12) + 40, caption)
    picture.text(
        LEFT,
        20,
        f"loop of {shape[0]} by {shape[1]}, the fastest dimension first; in each cell, the steps that read it",
        size=12,
        fill=MUTED,
    )
    for row, (name, each) in enumerate(visits.items()):
        y = 32 + row * (HEIGHT + 12)
        picture.text(LEFT, y + 15, name, mono=True, bold=True)
        picture.text(LEFT, y + 30, f"strides {list(strides[name])}", size=12, fill=MUTED)
        for element in range(max(each) + 1):
            reached = [step for step, at in enumerate(each) if at == element]
            x = LEFT + name_width + element * CELL
            shade = SHADES[min(reached) // shape[0] % len(SHADES)] if reached else PAPER
            picture.box(x, y, CELL, HEIGHT, fill=shade, r=0)
            text = ",".join(map(str, reached))
            picture.text(x + CELL / 2, y + 21, text, size=12 if len(text) < 6 else 9, mono=True, anchor="middle")
    return picture
