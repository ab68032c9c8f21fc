"""The pictures of the lessons that show numbers: how an operand is read, curves, bars, images.

Mirrors: nothing in PyTorch: the course's pictures.
Leaves out: axes that scale to any data; a lesson has one curve and small tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reftorch.debug.common.svg import LINE, MUTED, Picture

# Cells that read the same address share a colour, so that a stride of 0 is seen.
SHADES = ("#ddf4ff", "#dafbe1", "#fff8c5", "#fbefff", "#ffebe9", "#d5f2ee", "#f6f8fa", "#eaeef2")


def operands(caption: str, **tensors: Any) -> Picture:
    """Each 2-d tensor as a grid of its values; a cell says which element of the storage it reads."""
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
    """`values` over their index, from zero up."""
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


def curves(
    lines: dict[str, Sequence[float]], caption: str, *, x_label: str, y_label: str, first: int = 0, highest: float = 0
) -> Picture:
    """Several lists of values over one axis, each in its colour with its name above; they begin at the index `first`.

    Values above `highest` leave the picture; without it the picture is as high as the largest value.
    """
    left, top, width, height = 56, 46, 620, 220
    picture = Picture(left + width + 16, top + height + 46, caption)
    highest = highest or max(max(values) for values in lines.values())
    last = max(len(values) for values in lines.values()) - 1
    for quarter in range(5):
        y = top + height * (1 - quarter / 4)
        picture.path([(left, y), (left + width, y)], line=LINE, width=0.5)
        picture.text(left - 8, y + 4, f"{highest * quarter / 4:.3g}", size=11, fill=MUTED, anchor="end")
    x = float(left + 70)
    for (name, values), colour in zip(lines.items(), COLOURS, strict=False):
        inside = [(i, value) for i, value in enumerate(values) if 0 <= value <= highest]
        points = [(left + width * i / last, top + height * (1 - value / highest)) for i, value in inside]
        picture.path(points, line=colour, width=1.8)
        picture.path([(x, 14), (x + 22, 14)], line=colour, width=2.5)
        picture.text(x + 28, 18, name, size=12)
        x += 52 + 7.2 * len(name)
    picture.text(left, top + height + 18, str(first), size=11, fill=MUTED)
    picture.text(left + width, top + height + 18, str(first + last), size=11, fill=MUTED, anchor="end")
    picture.text(left + width / 2, top + height + 36, x_label, size=12, anchor="middle")
    picture.text(left, top - 10, y_label, size=12)
    return picture


def bars(values: dict[str, float], caption: str, *, unit: str = "") -> Picture:
    """One bar for each name, the longest across the picture, each with its number behind it."""
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
