"""The pictures of chapter 08: which elements a norm layer puts into one mean, and which class is made of which.

Mirrors: nothing in PyTorch: the course's pictures.
Leaves out: inputs of more than four dimensions; pixels are drawn as one axis.

Both are made by asking the library: a cell is blue if one output of the layer depends on it, and a class is below
its base.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import reftorch as torch
from course._tools.pictures import FLOORS
from reftorch.debug.common.svg import MUTED, Picture
from reftorch.nn import Module

SIZE, DEEP = 26, 15  # pixels: the side of a cell, and how far one cell goes back
BLUE, PALE = ("#54aeff", "#f6f8fa"), "#8c959f"


def shares_a_mean(layer: Module, shape: tuple[int, int, int, int]) -> Any:
    """Return for each element of an input (N, C, H, W) whether the output at (0, C - 1, 0, 0) depends on it."""
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    y = layer.double()(x)
    weights = torch.zeros_like(y)
    weights[0, shape[1] - 1, 0, 0] = 1
    (gradient,) = torch.autograd.grad((y * weights).sum(), x)
    return gradient != 0


def norm_cubes(layers: dict[str, Module], shape: tuple[int, int, int, int], caption: str) -> Picture:
    """A cube of channels, pixels and examples for each layer; blue is what shares one mean with the corner in front.

    The corner is the first pixel of the last channel of the first example. To the right go the channels, down the
    pixels, and back the examples.
    """
    n, c, pixels = shape[0], shape[1], shape[2] * shape[3]
    width, height = c * SIZE + n * DEEP + 46, pixels * SIZE + n * DEEP
    picture = Picture(len(layers) * width + 30, height + 92, caption)
    for position, (name, layer) in enumerate(layers.items()):
        blue = shares_a_mean(layer, shape).reshape(n, c, pixels)
        x, y = 30.0 + position * width, 30.0 + n * DEEP
        _cube(picture, x, y, blue)
        picture.text(x, y + pixels * SIZE + 20, name, size=12, mono=True, bold=True)
        count = int(blue.sum().item())
        picture.text(x, y + pixels * SIZE + 38, f"{count} elements, {blue.numel() // count} means", size=12, fill=MUTED)
    axes = f"to the right {c} channels, down {pixels} pixels, to the back {n} examples"
    picture.text(30, 16, axes, size=11, fill=MUTED)
    return picture


def _cube(picture: Picture, x: float, y: float, blue: Any) -> None:
    """Three faces: the first example in front, the first pixels above, the last channel at the right."""
    n, c, pixels = blue.shape
    for example in range(n - 1, -1, -1):
        back = (example + 1) * DEEP
        for channel in range(c):
            left, top = x + channel * SIZE + back - DEEP, y - back + DEEP
            corners = [(left, top), (left + SIZE, top), (left + SIZE + DEEP, top - DEEP), (left + DEEP, top - DEEP)]
            _cell(picture, corners, bool(blue[example, channel, 0]))
        for pixel in range(pixels):
            left, top = x + c * SIZE + back - DEEP, y + pixel * SIZE - back + DEEP
            below = top + SIZE
            corners = [(left, top), (left + DEEP, top - DEEP), (left + DEEP, below - DEEP), (left, below)]
            _cell(picture, corners, bool(blue[example, c - 1, pixel]))
    for channel in range(c):
        for pixel in range(pixels):
            left, top = x + channel * SIZE, y + pixel * SIZE
            corners = [(left, top), (left + SIZE, top), (left + SIZE, top + SIZE), (left, top + SIZE)]
            _cell(picture, corners, bool(blue[0, channel, pixel]))


def _cell(picture: Picture, corners: list[tuple[float, float]], blue: bool) -> None:
    points = " ".join(f"{x:g},{y:g}" for x, y in corners)
    picture.shapes.append(f'<polygon points="{points}" fill="{BLUE[not blue]}" stroke="{PALE}"/>')


def class_tree(classes: Sequence[type], caption: str, *, methods: Sequence[str] = ()) -> Picture:
    """Classes, each below and to the right of the nearest base that is drawn, with those of `methods` that it defines.

    Raises:
        LookupError: a class comes before its base.
    """
    left, indent, width, height, gap = 10, 40, 640, 44, 10
    picture = Picture(left + width + 10, len(classes) * (height + gap) + 10, caption)
    places: dict[type, tuple[float, float]] = {}
    for position, cls in enumerate(classes):
        base = next((each for each in cls.__mro__[1:] if each in classes), None)
        if base is not None and base not in places:
            raise LookupError(f"class_tree: {base.__name__} must come before {cls.__name__}")
        x = left if base is None else places[base][0] + indent
        y = 10.0 + position * (height + gap)
        places[cls] = (x, y)
        defined = [name for name in methods if name in cls.__dict__]
        fill, line = FLOORS["python" if defined else "core"]
        picture.box(x, y, left + width - x, height, fill=fill, line=line)
        picture.text(x + 12, y + 18, cls.__name__, mono=True, bold=True)
        picture.text(left + width - 12, y + 18, cls.__module__.replace(".", "/"), size=11, fill=MUTED, anchor="end")
        picture.text(x + 12, y + 36, ", ".join(defined) or "none of these methods", size=12, mono=bool(defined))
        if base is not None:
            start, middle = places[base][0] + 16, y + height / 2
            picture.path([(start, places[base][1] + height), (start, middle)], line=MUTED)
            picture.arrow(start, middle, x, middle)
    return picture
