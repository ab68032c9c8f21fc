"""The picture of a storage and its views: one strip of memory, and below it how each tensor reads it.

Mirrors: nothing in PyTorch: the course's pictures.
Leaves out: storages of more than some thirty elements, and tensors of more than two dimensions, which no eye follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from course._tools.plots import SHADES
from reftorch.debug.common.svg import MUTED, Picture

CELL, ROW, GAP, LEFT = 46, 34, 36, 14
PALETTE = (*SHADES, "#ffd8b5", "#c8d1da")  # as many as there are dtypes


def memory(caption: str, **tensors: Any) -> Picture:
    """The storage that `tensors` share as a strip, and below it which elements each of them reads, and as what.

    Raises:
        ValueError: they do not share one storage.
    """
    first = next(iter(tensors.values()))
    if len({tensor.untyped_storage().data_ptr() for tensor in tensors.values()}) > 1:
        raise ValueError(f"{', '.join(tensors)} do not share one storage")
    strip = first.as_strided((first.untyped_storage().nbytes() // first.element_size(),), (1,), 0)
    widths = [max(_columns(tensor) * CELL, 176) for tensor in tensors.values()]
    rows = max(tensor.shape[0] if tensor.dim() == 2 else 1 for tensor in tensors.values())
    views = 84 + 20 * len(tensors)
    width = max(sum(widths) + GAP * (len(widths) - 1), len(strip) * CELL + 110) + 2 * LEFT
    picture = Picture(width, views + 62 + rows * ROW, caption)
    picture.text(LEFT, 18, f"the storage: {len(strip)} elements of {first.dtype}", size=12, fill=MUTED)
    for element, value in enumerate(strip.tolist()):
        _cell(picture, LEFT + element * CELL, 26, element, value)
    y = 26 + ROW + 8
    for name, tensor in tensors.items():
        for element in sorted(set(_elements(tensor))):
            picture.box(LEFT + element * CELL + 3, y, CELL - 6, 9, fill=_shade(element), r=2)
        picture.text(LEFT + len(strip) * CELL + 10, y + 9, name, size=12, mono=True)
        y += 20
    x = float(LEFT)
    for (name, tensor), column in zip(tensors.items(), widths, strict=True):
        _grid(picture, x, views, name, tensor)
        x += column + GAP
    return picture


def promotion(dtypes: Sequence[Any], promote: Any, caption: str) -> Picture:
    """The table of `promote(row, column)`, a colour for each dtype that comes out."""
    names = [str(dtype).removeprefix("torch.") for dtype in dtypes]
    cell, row, left, top = 68, 24, 76, 30
    picture = Picture(left + len(names) * cell + 10, top + len(names) * row + 10, caption)
    for i, name in enumerate(names):
        picture.text(left + i * cell + cell / 2, top - 8, name, size=11, mono=True, anchor="middle")
        picture.text(left - 8, top + i * row + 16, name, size=11, mono=True, anchor="end")
        for j, other in enumerate(dtypes):
            result = promote(dtypes[i], other)
            shade = PALETTE[list(dtypes).index(result) % len(PALETTE)]
            picture.box(left + j * cell, top + i * row, cell, row, fill=shade, r=0)
            text = str(result).removeprefix("torch.")
            picture.text(left + j * cell + cell / 2, top + i * row + 16, text, size=11, anchor="middle")
    return picture


def _grid(picture: Picture, x: float, y: float, name: str, tensor: Any) -> None:
    picture.text(x, y + 14, name, mono=True, bold=True)
    picture.text(x, y + 30, f"sizes {tuple(tensor.shape)}, strides {tuple(tensor.stride())}", size=12, fill=MUTED)
    picture.text(x, y + 45, f"offset {tensor.storage_offset()}", size=12, fill=MUTED)
    elements, values = _elements(tensor), tensor.reshape(-1).tolist()
    columns = _columns(tensor)
    for position, (element, value) in enumerate(zip(elements, values, strict=True)):
        _cell(picture, x + position % columns * CELL, y + 52 + position // columns * ROW, element, value)


def _cell(picture: Picture, x: float, y: float, element: int, value: float) -> None:
    picture.box(x, y, CELL, ROW, fill=_shade(element), r=0)
    picture.text(x + CELL / 2, y + 16, f"{value:g}", mono=True, anchor="middle")
    picture.text(x + CELL / 2, y + 29, f"[{element}]", size=10, fill=MUTED, anchor="middle")


def _shade(element: int) -> str:
    return SHADES[element % len(SHADES)]


def _columns(tensor: Any) -> int:
    return tensor.shape[-1] if tensor.dim() else 1


def _elements(tensor: Any) -> list[int]:
    """Return which element of the storage each element of the tensor is, in the order of its indices."""
    found = [tensor.storage_offset()]
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        found = [element + index * stride for element in found for index in range(size)]
    return found
