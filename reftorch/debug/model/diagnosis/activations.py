"""Checks of the units inside: those that are always zero, and those that are always at an end of their range.

Mirrors: nothing in PyTorch, where people go through such lists by hand.
Left out: activations inside a fused op, such as the gates of nn.LSTM.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reftorch.debug.common.library import no_grad
from reftorch.debug.model.diagnosis.findings import Finding, NotRun
from reftorch.debug.model.diagnosis.program import Program
from reftorch.debug.model.diagnosis.watch import OpCall, OpWatch

RECTIFIERS = ("relu", "relu_", "relu6", "clamp_min", "threshold")
RANGES = {"tanh": (-1.0, 1.0), "tanh_": (-1.0, 1.0), "sigmoid": (0.0, 1.0), "sigmoid_": (0.0, 1.0)}
DEAD = 0.6  # the part of a layer's units that may be zero for a whole batch
SATURATED = 0.9  # the part of a layer's values that may be within 1 % of an end of the range
FEWEST = 8  # samples; with fewer, a healthy unit may well be zero for all of them


@dataclass
class Units:
    """The units of one activation: ``state`` has one number in [0, 1] for each unit, the part of the batch for which
    the unit is zero, or at an end of its range."""

    op: str
    where: str
    state: Any
    result: Any

    @property
    def rectified(self) -> bool:
        return self.op in RECTIFIERS

    @property
    def bad(self) -> float:
        """The part of the units that are dead, or of the values that are saturated."""
        return float((self.state == 1).double().mean()) if self.rectified else float(self.state.mean())


@no_grad()
def units_of(call: OpCall) -> Units | None:
    """Return the state of the units of an activation; None for another op."""
    result = call.result
    if result is None or result.dim() < 2 or not result.is_floating_point():
        return None
    if call.op in RECTIFIERS:
        idle = (result == 0).double()
    elif call.op in RANGES:
        low, high = RANGES[call.op]
        margin = (high - low) / 100
        idle = ((result < low + margin) | (result > high - margin)).double()
    else:
        return None
    # A unit is a channel of an image, and a feature, the last dimension, of anything else.
    unit = 1 if result.dim() >= 4 else result.dim() - 1
    others = [dim for dim in range(result.dim()) if dim != unit]
    return Units(call.op, call.where, idle.mean(others), result.detach())


def activations(program: Program) -> list[Units]:
    """Return the units of each activation that the model calls, in order."""
    found: list[Units] = []

    def visit(call: OpCall) -> None:
        units = units_of(call) if call.inside == 0 and call.module is not None else None
        if units is not None:
            found.append(units)

    with program.untouched(), no_grad(), OpWatch(program.model, visit):
        program.call(program.inputs)
    return found


def dead_units(program: Program) -> Iterator[Finding]:
    """Are the units of a layer zero for each sample?"""
    layers = [units for units in activations(program) if units.rectified]
    if not layers:
        raise NotRun("no rectifier is called")
    if layers[0].result.numel() // layers[0].state.numel() < FEWEST:
        raise NotRun(f"fewer than {FEWEST} values for each unit; take a larger batch")
    for units in layers:
        if units.bad > DEAD:
            count = units.state.numel()
            yield Finding(
                f"{units.op} at {units.where}",
                f"{round(units.bad * count)} of {count} units are zero for the whole batch: no gradient reaches them",
                "lower the learning rate, look at the bias before this layer, or use leaky_relu or gelu; "
                "draw_activations(model, x) shows each unit",
            )


def saturated_units(program: Program) -> Iterator[Finding]:
    """Are hidden units at the ends of their range?"""
    layers = [units for units in activations(program) if not units.rectified]
    if not layers:
        raise NotRun("no tanh or sigmoid is called")
    with program.untouched(), no_grad():
        output = program.call(program.inputs)
    for units in layers:
        last = getattr(output, "shape", None) == units.result.shape and units is layers[-1]
        if units.bad > SATURATED and not last:
            yield Finding(
                f"{units.op} at {units.where}",
                f"{units.bad:.0%} of the values are within 1 % of an end of the range, where the gradient is nearly 0",
                "normalize the inputs of this layer, or initialize its weights with smaller values; "
                "draw_activations(model, x) shows each unit",
            )
