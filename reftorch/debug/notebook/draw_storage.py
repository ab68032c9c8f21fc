"""A picture of tensors and their memory: strides, offsets, and shared storages.

Mirrors: nothing in PyTorch, where people draw such pictures on paper.
Left out: the full picture of large tensors; tensors of more than a few dozen elements are shown in part.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from reftorch import _C, _VF
from reftorch.debug.common.library import is_lazy, why_no_values
from reftorch.debug.common.names import names_in
from reftorch.debug.common.svg import INK, LINE, MUTED, PAPER, Picture
from reftorch.debug.common.table import bytes_text, counted, dtype_text, shape_text
from reftorch.debug.model.comparison import unravel

CELL, HEIGHT, GAP, EDGE, LINE_HEIGHT, BAND = 46, 34, 26, 20, 18, 4
CELLS_A_ROW, MOST_CELLS = 16, 96  # of memory
MOST_ROWS, MOST_COLUMNS, MOST_BLOCKS = 6, 8, 4  # of a tensor
# A line colour and a fill colour for each tensor in turn.
COLORS = [
    ("#0969da", "#ddf4ff"),
    ("#bf8700", "#fff8c5"),
    ("#8250df", "#fbefff"),
    ("#1a7f37", "#dafbe1"),
    ("#cf222e", "#ffebe9"),
    ("#57606a", "#eaeef2"),
]


@dataclass
class _Drawn:
    """A tensor in the picture."""

    name: str
    tensor: Any
    color: tuple[str, str]


@dataclass
class _Memory:
    """A storage in the picture. A cell has the size of an element of the tensor with the smallest elements."""

    nbytes: int
    unit: int
    tensors: list[_Drawn] = field(default_factory=list)
    missing: str = ""  # why there is no memory, or ""

    @property
    def cells(self) -> int:
        return self.nbytes // self.unit


def draw_storage(*tensors: Any, **named: Any) -> Picture:
    """Draw tensors and the storages that hold their elements: an SVG picture, which a notebook shows.

    A tensor on meta has no storage, and is shown with its shape and strides alone.

    Each group begins with a storage, cell by cell, with the number of each cell below the cell. Under the storage are
    the tensors that use it: each element shows its value, and below the value the number of its cell. A coloured bar
    under a cell of the storage shows which tensor uses the cell; no tensor uses a cell without a bar.

    Args:
        tensors: tensors, which are named by the caller's variables.
        named: tensors, whose names are the keywords.

    Returns:
        A picture: ``svg()`` is its text.

    Raises:
        ValueError: no tensor was given.
        TypeError: an argument is not a tensor.

    Example:
        >>> x = torch.arange(6).reshape(2, 3)
        >>> torch.debug.draw_storage(x, x.t(), row=x[1])
        [picture] 3 tensors on 1 storage
    """
    if not tensors and not named:
        raise ValueError("draw_storage: expected at least one tensor, got none. Hint: draw_storage(x, x.t()).")
    names = names_in(sys._getframe(1)) if tensors else {}
    pairs = [(names.get(id(tensor), f"tensor {i}"), tensor) for i, tensor in enumerate(tensors)] + list(named.items())
    memories = group(pairs)
    held = [memory for memory in memories if not memory.missing]
    caption = f"{counted(len(pairs), 'tensor')} on {counted(len(held), 'storage')}"
    width = max(memory_width(memory) for memory in memories)
    picture = Picture(width, 1, caption)
    y: float = EDGE
    for number, memory in enumerate(memories):
        if not memory.missing:
            y = draw_memory(picture, memory, f"storage {number}" if len(memories) > 1 else "storage", y)
        for drawn in memory.tensors:
            y = draw_tensor(picture, drawn, memory.unit, y)
        y += GAP / 2
    picture.height = y
    return picture


def group(pairs: list[tuple[str, Any]]) -> list[_Memory]:
    """Return the storages of named tensors, in the order of their first tensors."""
    memories: dict[int, _Memory] = {}
    for position, (name, tensor) in enumerate(pairs):
        if not isinstance(tensor, _C.TensorBase):
            raise TypeError(f"draw_storage: expected tensors, but '{name}' is a {type(tensor).__name__}")
        missing = why_no_values(tensor)
        address = 0 if missing else tensor._storage_data_ptr()
        size, unit = (0, 1) if missing else (tensor._storage_nbytes(), tensor.element_size())
        # A tensor without memory shares nothing.
        memory = memories.setdefault(address or -1 - position, _Memory(size, unit, missing=missing))
        memory.unit = min(memory.unit, unit)
        memory.tensors.append(
            _Drawn(name, tensor if is_lazy(tensor) else tensor.detach(), COLORS[position % len(COLORS)])
        )
    return list(memories.values())


def places(tensor: Any) -> Any:
    """Return for each element its position in the storage, in elements."""
    count = tensor._storage_nbytes() // tensor.element_size()
    return _VF.arange(count).as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def used(tensor: Any, cells: int) -> list[int]:
    """Return those of the first ``cells`` cells that the tensor uses."""
    found = places(tensor).reshape(-1)
    return sorted(set(found[found < cells].tolist()))


def shown_part(tensor: Any) -> Any:
    """Return the part that is drawn: the upper left corners of the first blocks, as [blocks, rows, columns]."""
    lifted = tensor if tensor.dim() > 1 else tensor.reshape(1, -1)
    return lifted.reshape(-1, *lifted.shape[-2:])[:MOST_BLOCKS, :MOST_ROWS, :MOST_COLUMNS]


def memory_width(memory: _Memory) -> float:
    widest = max(map(tensor_width, memory.tensors))
    return max(2 * EDGE + min(CELLS_A_ROW, max(memory.cells, 1)) * CELL, 2 * EDGE + widest, 420)


def tensor_width(drawn: _Drawn) -> float:
    if why_no_values(drawn.tensor) or drawn.tensor.numel() == 0:
        return 0
    blocks, _, columns = shown_part(drawn.tensor).shape
    return blocks * (columns * CELL + GAP)


def draw_memory(picture: Picture, memory: _Memory, title: str, y: float) -> float:
    """Draw the cells, with bars for the tensors that use them; return where the next drawing begins."""
    shown = min(memory.cells, MOST_CELLS)
    values: dict[int, str] = {}
    users: dict[int, list[tuple[str, str]]] = {}
    for drawn in memory.tensors:
        wide = drawn.tensor.element_size() // memory.unit
        places = used(drawn.tensor, shown // wide + 1)
        if wide == 1 and places:
            stored = elements(drawn.tensor.as_strided((places[-1] + 1,), (1,), 0))
            values.update((place, stored[place]) for place in places if place not in values)
        for place in places:
            for cell in range(place * wide, (place + 1) * wide):
                users.setdefault(cell, []).append(drawn.color)
    picture.text(EDGE, y + 12, title, bold=True)
    size = f"{bytes_text(memory.nbytes)}, {bytes_text(memory.unit)} a cell; the small number is the cell's"
    picture.text(EDGE + 9 * len(title), y + 12, size, fill=MUTED, size=12)
    y += LINE_HEIGHT + 4
    row_height = HEIGHT + 14 + BAND * max((len(colors) for colors in users.values()), default=0) + 6
    for cell in range(shown):
        x, top = EDGE + cell % CELLS_A_ROW * CELL, y + cell // CELLS_A_ROW * row_height
        picture.box(x, top, CELL, HEIGHT, fill=PAPER if cell in users else "#f6f8fa", line=LINE, r=0)
        picture.text(x + CELL / 2, top + 16, values.get(cell, ""), size=11, mono=True, anchor="middle")
        picture.text(x + CELL / 2, top + 29, str(cell), size=10, mono=True, anchor="middle", fill=MUTED)
        for position, (line, _) in enumerate(users.get(cell, ())):
            picture.box(x + 2, top + HEIGHT + 3 + position * BAND, CELL - 4, BAND - 1, fill=line, line=line, r=0)
    y += -(-shown // CELLS_A_ROW) * row_height
    if shown < memory.cells:
        picture.text(EDGE, y + 4, f"... {memory.cells - shown} cells more", size=12, fill=MUTED)
        y += LINE_HEIGHT
    return y


def draw_line(picture: Picture, drawn: _Drawn, said: str, y: float) -> float:
    """Draw the line above a tensor: colour, name and description; return where the next drawing begins."""
    line, _ = drawn.color
    picture.box(EDGE, y + 1, 12, 12, fill=line, line=line, r=2)
    picture.text(EDGE + 18, y + 12, drawn.name, bold=True, mono=True)
    picture.text(EDGE + 30 + 8 * len(drawn.name), y + 12, said, size=12, fill=MUTED)
    return y + LINE_HEIGHT + 2


def draw_tensor(picture: Picture, drawn: _Drawn, unit: int, y: float) -> float:
    """Draw the elements of the tensor as matrices side by side; return where the next drawing begins."""
    tensor, (line, fill) = drawn.tensor, drawn.color
    if is_lazy(tensor):
        return draw_line(picture, drawn, f"{dtype_text(tensor)}, {why_no_values(tensor)}: no memory", y) + GAP
    contiguous = "" if tensor.is_contiguous() else ", not contiguous"
    said = f"{shape_text(tensor.shape)} {dtype_text(tensor)}, strides {shape_text(tensor.stride())}"
    said += f", offset {tensor.storage_offset()}{contiguous}"
    y = draw_line(picture, drawn, said, y)
    if why_no_values(tensor):
        picture.text(EDGE + 18, y + 12, f"no memory: the tensor {why_no_values(tensor)}", size=12, fill=MUTED)
        return y + GAP
    if tensor.numel() == 0:
        picture.text(EDGE + 18, y + 12, "no elements", size=12, fill=MUTED)
        return y + GAP
    part, cells = shown_part(tensor), shown_part(places(tensor)) * (tensor.element_size() // unit)
    blocks, rows, columns = part.shape
    title = LINE_HEIGHT if tensor.dim() > 2 else 0
    for block in range(blocks if title else 0):
        text = shape_text(unravel(block, tuple(tensor.shape[:-2])))
        picture.text(EDGE + block * (columns * CELL + GAP), y + 11, text, size=11, mono=True, fill=MUTED)
    everywhere = product(range(blocks), range(rows), range(columns))
    for (block, row, column), value, cell in zip(everywhere, elements(part), elements(cells), strict=True):
        x, top = EDGE + block * (columns * CELL + GAP) + column * CELL, y + title + row * HEIGHT
        picture.box(x, top, CELL, HEIGHT, fill=fill, line=line, r=0)
        picture.text(x + CELL / 2, top + 16, value, size=11, mono=True, anchor="middle", fill=INK)
        picture.text(x + CELL / 2, top + 29, cell, size=10, mono=True, anchor="middle", fill=MUTED)
    y += title + rows * HEIGHT
    hidden = tensor.numel() - part.numel()
    if hidden:
        picture.text(EDGE, y + 14, f"... {hidden} elements more", size=12, fill=MUTED)
        y += LINE_HEIGHT
    return y + GAP


def elements(tensor: Any) -> list[str]:
    """Return the text of each element, in the order of the tensor."""
    return [value_text(value) for value in tensor.reshape(-1).tolist()]


def value_text(value: Any) -> str:
    """Return a text for a number that fits into a cell."""
    if not isinstance(value, float):
        text = str(value)
        return text if len(text) <= 6 else f"{value:.0e}"
    text = f"{value:.3g}" if len(f"{value:.3g}") <= 6 else f"{value:.2g}"
    return text if len(text) <= 6 else f"{value:.0e}"
