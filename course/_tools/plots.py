"""The pictures of the lessons that show numbers: how an operand is read, curves, bars, images.

Mirrors: nothing in PyTorch: the course's pictures.
Leaves out: axes that scale to any data; a lesson has one curve and small tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from reftorch.debug.common.svg import LINE, MUTED, Picture

# Cells that read the same address share a colour, so that a stride of 0 is seen.
SHADES = ("#ddf4ff", "#dafbe1", "#fff8c5", "#fbefff", "#ffebe9", "#d5f2ee", "#f6f8fa", "#eaeef2")


def operands(caption: str, **tensors: Any) -> Picture:
    """Draw each 2-d tensor as a grid of its values; a cell says which element of the storage it reads."""
    cell, row, gap = 58, 40, 44
    widths = [max(t.shape[1] * cell, 150) for t in tensors.values()]
    rows = max(t.shape[0] for t in tensors.values())
    picture = Picture(sum(widths) + gap * (len(widths) + 1), rows * row + 80, caption)
    x = float(gap)
    for (name, tensor), width in zip(tensors.items(), widths, strict=True):
        picture.text(x, 22, name, mono=True, bold=True)
        picture.text(x, 40, f"sizes {tuple(tensor.shape)}", size=12, fill=MUTED)
        picture.text(x, 56, f"strides {tuple(tensor.stride())}", size=12, fill=MUTED)
        for i in range(tensor.shape[0]):
            for j in range(tensor.shape[1]):
                element = tensor.storage_offset() + i * tensor.stride(0) + j * tensor.stride(1)
                left, top = x + j * cell, 66 + i * row
                picture.box(left, top, cell, row, fill=SHADES[element % len(SHADES)], r=0)
                picture.text(left + cell / 2, top + 18, f"{tensor[i, j].item():g}", mono=True, anchor="middle")
                picture.text(left + cell / 2, top + 33, f"[{element}]", size=10, fill=MUTED, anchor="middle")
        x += width + gap
    return picture


def curve(values: Sequence[float], caption: str, *, x_label: str, y_label: str) -> Picture:
    """Draw `values` over their index; the axis begins at 0."""
    left, top, width, height = 56, 24, 620, 220
    picture = Picture(left + width + 16, top + height + 46, caption)
    highest = max(values)
    for quarter in range(5):
        y = top + height * (1 - quarter / 4)
        picture.path([(left, y), (left + width, y)], line=LINE, width=0.5)
        picture.text(left - 8, y + 4, f"{highest * quarter / 4:.2f}", size=11, fill=MUTED, anchor="end")
    last = len(values) - 1
    points = [(left + width * i / last, top + height * (1 - value / highest)) for i, value in enumerate(values)]
    picture.path(points, line="#0969da", width=1.8)
    picture.text(left, top + height + 18, "0", size=11, fill=MUTED)
    picture.text(left + width, top + height + 18, str(last), size=11, fill=MUTED, anchor="end")
    picture.text(left + width / 2, top + height + 36, x_label, size=12, anchor="middle")
    picture.text(left, top - 5, y_label, size=12)
    return picture


COLOURS = ("#0969da", "#cf222e", "#1a7f37", "#9a6700", "#8250df")
THIN, WIDER = 1.8, 4.2  # a line that others cover is wider than they are, so that its edges are seen
COVERED = 1.5  # pixels: a point that is nearer to a later line than this is below that line
FEWEST = 2  # points of a line that have to be seen


def curves(
    lines: dict[str, Sequence[float]],
    caption: str,
    *,
    x_label: str,
    y_label: str,
    first: int = 0,
    highest: float = 0,
    log: bool = False,
) -> Picture:
    """Draw several lists of values over one axis, each in its colour with its name above, from the index `first` on.

    Without `highest` the picture is as high as the largest value. With it, a line ends at the upper edge where it
    leaves the picture, and the caption says how many values are missing. A line that is covered by later lines is drawn
    wide below them. With `log` each line of the grid is ten times the line below.

    Raises:
        ValueError: fewer than two values of a line are in the picture, or `log` meets a value that is not positive.
    """
    left, top, width, height = 56, 46, 620, 220
    finite = {name: [value for value in values if math.isfinite(value)] for name, values in lines.items()}
    highest = highest or max(max(values) for values in finite.values())
    lowest = min(0.0, *(min(values) for values in finite.values()))
    if log:
        least = min(min(values) for values in finite.values())
        if least <= 0:
            raise ValueError(f"curves: a logarithmic axis has no place for {least:g}")
        lowest, highest = 10.0 ** math.floor(math.log10(least)), 10.0 ** math.ceil(math.log10(highest))
    picture = Picture(left + width + 16, top + height + 46, caption + _left_out(lines, lowest, highest))
    last = max(len(values) for values in lines.values()) - 1

    def place(index: float, value: float) -> tuple[float, float]:
        part = math.log(value / lowest, highest / lowest) if log else (value - lowest) / (highest - lowest)
        return left + width * index / last, top + height * (1 - part)

    steps = round(math.log10(highest / lowest)) if log else 4
    for step in range(steps + 1):
        value = lowest * 10.0**step if log else lowest + (highest - lowest) * step / steps
        y = place(0, value)[1]
        picture.path([(left, y), (left + width, y)], line=LINE, width=0.5)
        picture.text(left - 8, y + 4, f"{value:.3g}", size=11, fill=MUTED, anchor="end")
    drawn = [[place(i, v) if lowest <= v <= highest else None for i, v in enumerate(values)]
             for values in lines.values()]  # fmt: skip
    covered = [not _is_seen(points, drawn[position + 1 :]) for position, points in enumerate(drawn)]
    x = float(left + 70)
    for position, (name, colour) in enumerate(zip(lines, COLOURS, strict=False)):
        points = drawn[position]
        if sum(point is not None for point in points) < FEWEST:
            raise ValueError(f"curves: less than {FEWEST} of the {len(points)} values of {name!r} are in the picture")
        stroke = THIN + WIDER * sum(covered[position:]) if covered[position] else THIN
        for piece in _pieces(lines[name], points, place, highest):
            picture.path(piece, line=colour, width=stroke)
        picture.path([(x, 14), (x + 22, 14)], line=colour, width=max(stroke, 2.5))
        picture.text(x + 28, 18, name, size=12)
        x += 52 + 7.2 * len(name)
    picture.text(left, top + height + 18, str(first), size=11, fill=MUTED)
    picture.text(left + width, top + height + 18, str(first + last), size=11, fill=MUTED, anchor="end")
    picture.text(left + width / 2, top + height + 36, x_label, size=12, anchor="middle")
    picture.text(left, top - 10, y_label, size=12)
    return picture


def _left_out(lines: dict[str, Sequence[float]], lowest: float, highest: float) -> str:
    """Return what the caption says about values outside the picture: nothing if there are none."""
    told = []
    for name, values in lines.items():
        out = [value for value in values if not lowest <= value <= highest]
        if out:
            told.append(f"{len(out)} of the {len(values)} values of {name} (up to {max(out):.3g})")
    return f"; not in the picture, because they are above {highest:g}: {', '.join(told)}" if told else ""


Point = tuple[float, float]


def _is_seen(points: Sequence[Point | None], later: Sequence[Sequence[Point | None]]) -> bool:
    """Return whether enough points of a line are beside those lines that are drawn over it."""
    free = 0
    for index, point in enumerate(points):
        others = [line[index] for line in later if index < len(line)]
        covered = point and any(other and abs(other[1] - point[1]) < COVERED for other in others)
        free += point is not None and not covered
    return free >= FEWEST


def _pieces(
    values: Sequence[float], points: Sequence[Point | None], place: Callable[[float, float], Point], highest: float
) -> Iterator[list[Point]]:
    """The parts of a line that are in the picture; a part goes up to the edge where the line leaves the picture."""
    piece: list[Point] = []
    for index, point in enumerate(points):
        before = index and points[index - 1] is not None
        if index and before != (point is not None) and math.isfinite(values[index] + values[index - 1]):
            inside, outside = (index - 1, index) if before else (index, index - 1)
            share = (highest - values[inside]) / (values[outside] - values[inside]) if values[outside] > highest else 0
            piece.append(place(inside + (outside - inside) * share, highest if share else values[inside]))
        if point is not None:
            piece.append(point)
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def bars(values: dict[str, float], caption: str, *, unit: str = "") -> Picture:
    """Draw one bar for each name, the longest across the picture, each with its number behind it."""
    row, left, width = 24, 250, 400
    picture = Picture(left + width + 130, len(values) * row + 20, caption)
    highest = max(values.values()) or 1
    for position, (name, value) in enumerate(values.items()):
        y = 10 + position * row
        length = max(width * value / highest, 1)
        picture.text(left - 10, y + 16, name, size=12, mono=True, anchor="end")
        picture.box(left, y + 3, length, row - 7, fill=SHADES[0], line="#54aeff", r=2)
        number = f"{value:g}"
        number = f"{value:,.0f}" if "e+" in number else number  # 1,234,567 and not 1.23457e+06
        picture.text(left + length + 8, y + 16, f"{number} {unit}".rstrip(), size=12)
    return picture


def images(sheets: Sequence[Sequence[Sequence[float]]], labels: Sequence[str], caption: str) -> Picture:
    """Grey images side by side, black on white, each with its label; values from 0 (white) to 1 (black)."""
    pixel, gap = 7, 16
    side = len(sheets[0]) * pixel
    picture = Picture(len(sheets) * (side + gap) + gap, side + 44, caption)
    for position, (sheet, label) in enumerate(zip(sheets, labels, strict=True)):
        left = gap + position * (side + gap)
        for i, line in enumerate(sheet):
            for j, value in enumerate(line):
                if value > 0:
                    grey = round(255 * (1 - value))
                    shade = f"#{grey:02x}{grey:02x}{grey:02x}"
                    picture.box(left + j * pixel, 12 + i * pixel, pixel, pixel, fill=shade, line=shade, r=0)
        picture.box(left - 1, 11, side + 2, side + 2, fill="none")
        picture.text(left + side / 2, side + 32, label, size=12, anchor="middle")
    return picture
