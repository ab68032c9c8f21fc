"""A picture of the units of a model: which are always zero, and which are always at an end of their range.

Mirrors: nothing in PyTorch, where people plot histograms of activations.
Left out: activations inside a fused op, such as the gates of a fused recurrence.
"""

from __future__ import annotations

from typing import Any

from reftorch.debug.common.expect import expect_module, expect_values
from reftorch.debug.common.svg import INK, LINE, MUTED, Picture
from reftorch.debug.common.table import shape_text
from reftorch.debug.model.diagnosis.activations import Units, activations
from reftorch.debug.model.diagnosis.program import Program

CELL, ACROSS, MOST_UNITS, EDGE, LINE_HEIGHT, GAP = 12, 48, 192, 16, 18, 14
DEAD, ENDS = ("#ffebe9", "#cf222e"), ("#fff1e5", "#bc4c00")  # the colours of a rectifier and of a bounded activation
SHADES = 4


def draw_activations(model: Any, *inputs: Any) -> Picture:
    """Draw a cell for each unit of each relu, tanh and sigmoid that a model calls: an SVG picture for a notebook.

    A cell is darker, the larger the part of the inputs for which the unit is idle: zero, after a rectifier (red), or
    within 1 % of an end of its range, after tanh and sigmoid (orange). A full cell is a dead or a saturated unit, which
    gets no gradient. The text of a row names the op, the line that called it, and the module. The model is called once,
    in its present mode, and is left as it was.

    Args:
        model: a module.
        inputs: the arguments of the model.

    Returns:
        A picture: ``svg()`` is its text.

    Raises:
        TypeError: the model is not a module.
        ValueError: the model calls none of these activations, or has no values, because it is lazy or on meta.

    Example:
        >>> from reftorch.debug import draw_activations
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ReLU())
        >>> with torch.no_grad():
        ...     _ = net[0].bias.copy_(torch.tensor([-99.0, 99.0, 99.0, -99.0]))
        >>> draw_activations(net, torch.ones(3, 2))
        [picture] 1 activation; idle units: 2 of 4
    """
    expect_module("draw_activations", model)
    expect_values("draw_activations", model, inputs)
    layers = activations(Program(model, inputs, None, None, None, None, (), 0, 0))
    if not layers:
        raise ValueError("draw_activations: the model calls no relu, tanh or sigmoid. Hint: pass a batch of inputs.")
    idle = sum(idle_units(units) for units in layers)
    count = sum(units.state.numel() for units in layers)
    caption = f"{len(layers)} activation{'' if len(layers) == 1 else 's'}; idle units: {idle} of {count}"
    heights = [2 * LINE_HEIGHT + CELL * -(-min(units.state.numel(), MOST_UNITS) // ACROSS) + GAP for units in layers]
    picture = Picture(2 * EDGE + ACROSS * CELL, 2 * EDGE + sum(heights), caption)
    y = float(EDGE)
    for units, height in zip(layers, heights, strict=True):
        draw_layer(picture, units, y)
        y += height
    return picture


def idle_units(units: Units) -> int:
    return int((units.state == 1).sum())


def draw_layer(picture: Picture, units: Units, y: float) -> None:
    """Draw one activation: two lines of text, and a cell for each unit."""
    states = units.state.tolist()
    what = "zero for all inputs" if units.rectified else "at an end of the range for all inputs"
    title = f"{units.op} {shape_text(units.result.shape)}: {idle_units(units)} of {len(states)} units {what}"
    picture.text(EDGE, y + 13, title, bold=True, fill=INK)
    picture.text(EDGE, y + 13 + LINE_HEIGHT, units.where, size=11, mono=True, fill=MUTED)
    top = y + 2 * LINE_HEIGHT + 2
    for i, state in enumerate(states[:MOST_UNITS]):
        x = EDGE + i % ACROSS * CELL
        fill = shade(DEAD if units.rectified else ENDS, state)
        picture.box(x, top + i // ACROSS * CELL, CELL - 2, CELL - 2, fill=fill, line=LINE, r=1)


def shade(colors: tuple[str, str], part: float) -> str:
    """Return white for a unit that works, the full colour for one that is always idle, and a light one in between."""
    if part == 1:
        return colors[1]
    return colors[0] if part > 1 - 1 / SHADES else "#ffffff"
