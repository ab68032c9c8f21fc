"""Positions for the boxes of a picture, and curves for its arrows, from Graphviz's program ``dot``.

Mirrors: nothing in PyTorch: the pictures of reftorch.debug.
Leaves out: labels, shapes and colours, which the picture itself draws.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from typing import NamedTuple

_DOT_UNITS = 72  # dot measures in inches; a point of the picture is a 72nd of one


class Layout(NamedTuple):
    """The size of a picture, the left upper corners of its boxes, and the points of its arrows, in the given order."""

    width: float
    height: float
    boxes: list[tuple[float, float]]
    arrows: list[list[tuple[float, float]]]


def dot_layout(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Layout | None:
    """Lay out boxes so that few arrows cross and none runs through a box; None if ``dot`` is not installed.

    Args:
        sizes: width and height of each box.
        edges: the arrows, from the box with the first number to the box with the second one.

    Returns:
        The layout. An arrow is a start and, for each of its Bezier curves, two control points and an end.

    Raises:
        RuntimeError: ``dot`` failed.
    """
    dot = shutil.which("dot")
    if dot is None:
        return None
    lines = ["digraph {", 'node [shape=box, fixedsize=true, label=""];', "edge [arrowhead=none];"]
    for i, (width, height) in enumerate(sizes):
        lines.append(f"n{i} [width={width / _DOT_UNITS:.4f}, height={height / _DOT_UNITS:.4f}];")
    lines += [f"n{a} -> n{b};" for a, b in edges]
    text = "\n".join([*lines, "}"])
    done = subprocess.run([dot, "-Tplain"], input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"draw_graph: {dot} ended with {done.returncode}: {done.stderr.strip()}")
    return _parsed(done.stdout, sizes, edges)


def _parsed(text: str, sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Layout:
    """Read the format *plain* of dot, in which y grows upwards and places are those of the middles of boxes."""
    width = height = 0.0
    boxes = [(0.0, 0.0)] * len(sizes)
    curves: dict[tuple[int, int], list[list[tuple[float, float]]]] = {}
    for line in text.splitlines():
        kind, *words = line.split()
        if kind == "graph":
            width, height = (float(word) * _DOT_UNITS for word in words[1:3])
        elif kind == "node":
            box = int(words[0][1:])
            x, y = (float(word) * _DOT_UNITS for word in words[1:3])
            boxes[box] = (x - sizes[box][0] / 2, height - y - sizes[box][1] / 2)
        elif kind == "edge":
            numbers = [float(word) * _DOT_UNITS for word in words[3 : 3 + 2 * int(words[2])]]
            points = [(x, height - y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
            curves.setdefault((int(words[0][1:]), int(words[1][1:])), []).append(points)
    return Layout(width, height, boxes, [curves[edge].pop(0) for edge in edges])
