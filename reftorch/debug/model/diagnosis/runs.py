"""Checks that run the model once: does it raise, are all numbers finite, does a gradient reach each parameter?

Mirrors: torch/autograd/anomaly_mode.py, for errors of the backward pass
Left out: wrong formulas of gradients; see check_gradients.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator
from typing import Any

from reftorch.debug.common.library import is_tensor, library_of
from reftorch.debug.common.op_info import op_info
from reftorch.debug.common.table import shape_text
from reftorch.debug.model.diagnosis.findings import Finding
from reftorch.debug.model.diagnosis.parameters import listed
from reftorch.debug.model.diagnosis.program import Program, fixed_random_numbers
from reftorch.debug.model.diagnosis.scales import input_advice, normalized_inputs, normalized_targets, target_advice
from reftorch.debug.model.diagnosis.watch import OpCall, OpWatch
from reftorch.debug.model.find_nan import find_nan
from reftorch.debug.model.record_tensors import record_tensors

EXPLODING = 1e3  # the norm of a gradient by the norm of its parameter; about 0.1 in a model that learns
VANISHING = 1e-9  # of such a ratio, by the largest one of the model
KNOWN_ERRORS = {  # words of an error: what to do
    "Expected more than 1 value per channel": "batch norm needs at least two samples of a batch: take a larger batch "
    "(DataLoader(..., drop_last=True) drops a last one), or take group norm or layer norm",
    r"Target -?\d+ is out of bounds": "count the classes from 0 to C - 1, as the C scores of a sample do; a target "
    "that should not count is ignore_index",
}
RECURRENT = 3  # uses of one parameter in a forward pass; tied parameters have two


def an_error(program: Program) -> Iterator[Finding]:
    """Do the forward and the backward pass run?"""
    writes: list[tuple[str, str]] = []  # the shape of what an op changed in place, and where

    def visit(call: OpCall) -> None:
        for position in op_info(call.name).written:
            value = call.arguments[position] if position < len(call.arguments) else None
            if value is not None and is_tensor(value) and call.inside == 0:
                writes.append((shape_text(value.shape), f"{call.op} at {call.where}"))

    with program.untouched(), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            with OpWatch(program.model, visit), record_tensors(program.model):
                loss = program.loss()
        except Exception as error:
            if str(error).startswith("diagnose:"):
                raise
            notes = "; ".join(getattr(error, "__notes__", []))
            advice = next((advice for words, advice in KNOWN_ERRORS.items() if re.search(words, str(error))), "")
            yield Finding(notes or "forward", f"{type(error).__name__}: {error}", advice or "correct the error first")
            return
        if not loss.requires_grad:
            yield Finding(
                "the loss",
                "the loss has no graph, so backward cannot start",
                "look for .item(), .detach(), no_grad() or torch.tensor(...) between the parameters and the loss",
            )
            return
        try:
            loss.backward()
            return
        except RuntimeError as error:
            text = str(error)
        with library_of(program.model).autograd.detect_anomaly(check_nan=False):
            try:
                program.loss().backward()
            except RuntimeError as error:
                text = str(error)
    forward = next((str(w.message) for w in said if "forward call" in str(w.message)), "")
    line = re.findall(r'File "([^"]+)", line (\d+), in .*\n +(.+)', forward)
    needed = "{}:{}  {}".format(*line[-1]) if line else "backward"
    shape = re.search(r"Tensor (\[[\d, ]*\])\]", text)
    changed = [where for written, where in writes if shape is not None and written == shape[1]]
    if "inplace operation" not in text:
        yield Finding(needed, text, "correct the error first")
        return
    yield Finding(
        changed[-1] if changed else needed,
        f"an op in place changed a tensor that backward needs for the gradient of: {needed}",
        "use the form of the op that makes a new tensor, or change a clone()",
    )


def not_finite(program: Program) -> Iterator[Finding]:
    """Does an op make a NaN or an infinity?"""
    with program.untouched(), find_nan(program.model) as found:
        program.loss().backward()
    first = found.first
    if first is None:
        return
    line = first.lines and (first.lines.user or first.lines.inner)
    half = [text for _, text in first.details if "float16" in text and "bfloat16" not in text]
    advice = "look at the values that come into this op; clamp them, or add an epsilon"
    if half and first.kind == "Inf":
        advice = "float16 ends at 65504: use bfloat16 or float32 here, or scale the values down"
    details = "; ".join(f"{name}: {text}" for name, text in first.details)
    forward = f"; forward was {first.forward}" if first.forward else ""
    yield Finding(f"{line}" if line else "the state", f"{first.headline()}; {details}{forward}", advice)


class Cuts:
    """The places at which values leave the graph: an op with an argument that requires grad, and a result without."""

    def __init__(self) -> None:
        self.places: list[str] = []

    def __call__(self, call: OpCall) -> None:
        result = call.result
        if call.inside or result is None or not result.is_floating_point() or result.requires_grad:
            return
        if any(tensor.requires_grad for tensor in call.tensors):
            if not library_of(call.tensors[0]).is_grad_enabled():
                self.places.append(f"{call.op} under no_grad at {call.where}")
            elif call.op == "detach" and call.is_called_by_user:
                self.places.append(f"detach at {call.where}")


def gradient_flow(program: Program) -> Iterator[Finding]:
    """Does a gradient reach each parameter that is to be trained?"""
    cuts, reached = Cuts(), dict.fromkeys(program.trained(), "no gradient")
    with program.untouched():
        optimizer = program.fresh_optimizer(1e-3)
        # A parameter behind a zero has its first gradient after a step: residual branches often begin with a zero.
        for step in range(3):
            optimizer.zero_grad()
            if step == 0:
                with OpWatch(program.model, cuts):
                    loss = program.loss()
            else:
                loss = program.loss()
            loss.backward()
            for name, p in program.trained().items():
                if p.grad is not None and reached[name] != "ok":
                    reached[name] = "ok" if bool((p.grad != 0).any()) else "only zeros"
            optimizer.step()
    for state in ("no gradient", "only zeros"):
        names = [name for name, was in reached.items() if was == state]
        if names:
            places = list(dict.fromkeys(cuts.places)) if state == "no gradient" else []
            yield Finding(
                "; ".join(places[:3]) if places else listed(names),
                f"{listed(names)}: {state} in three steps of training"
                + ("" if places or state != "no gradient" else "; no path of the graph leads from the loss to them"),
                "remove the detach, no_grad or .data if it is not meant" if places
                else "call the module in forward, and use its result" if state == "no gradient"
                else "look for units that are always zero, or a factor of zero, behind these parameters",
            )  # fmt: skip


def gradient_size(program: Program) -> Iterator[Finding]:
    """Do gradients explode or vanish?"""
    sizes = gradient_sizes(program)
    exploding = {name: size for name, size in sizes.items() if size > EXPLODING}
    if exploding:
        name = max(exploding, key=lambda each: exploding[each])
        yield Finding(
            listed(list(exploding)),
            f"the gradient of '{name}' is {exploding[name]:.2g} times as large as the parameter: the gradient explodes",
            explosion_advice(program, list(exploding)),
        )
    weights = {name: sizes[name] for name, p in program.trained().items() if p.dim() >= 2 and sizes.get(name, 0) > 0}
    vanishing = [name for name, size in weights.items() if size < VANISHING * max(weights.values())]
    if vanishing and not exploding:
        yield Finding(
            listed(vanishing),
            f"the gradient is less than {VANISHING:.0e} of the largest one: it vanishes on its way through the layers",
            "use residual connections, normalization, or activations that do not saturate",
        )


def gradient_sizes(program: Program) -> dict[str, float]:
    """Return the relative size of the gradient of each trained parameter that has one."""
    with program.untouched(), fixed_random_numbers():
        program.loss().backward()
        return {name: relative_size(p) for name, p in program.trained().items() if p.grad is not None}


def explosion_advice(program: Program, names: list[str]) -> str:
    """Return what to do. If normalized targets, or inputs, make the gradient small again, they are the cause."""
    for changed, advice in ((normalized_targets(program), target_advice), (normalized_inputs(program), input_advice)):
        if changed is not None and max(gradient_sizes(changed).values(), default=math.inf) <= EXPLODING:
            return advice(program)
    if is_recurrent(program, names):
        return (
            "in a recurrence, keep the norm of the recurrent weight near 1 (orthogonal initialization), use gates, and "
            "clip the gradient: torch.nn.utils.clip_grad_norm_"
        )
    return (
        "initialize the weights with smaller values, put normalization between the layers, look for a loss that is a "
        "sum, and clip the gradient: torch.nn.utils.clip_grad_norm_"
    )


def is_recurrent(program: Program, names: list[str]) -> bool:
    """Return whether a forward pass uses one of these parameters again and again, or runs a recurrent layer."""
    uses = {id(p): 0 for name, p in program.trained().items() if name in names}

    def visit(call: OpCall) -> None:
        for tensor in call.tensors if call.inside == 0 else ():
            if id(tensor) in uses:
                uses[id(tensor)] += 1

    with program.untouched(), OpWatch(program.model, visit):
        program.call(program.inputs)
    layers = any("RNNBase" in (kind.__name__ for kind in type(m).__mro__) for m in program.model.modules())
    return layers or max(uses.values(), default=0) >= RECURRENT


def relative_size(parameter: Any) -> float:
    """Return the norm of the gradient by that of the parameter, which counts as at least that of entries of 0.01."""
    gradient, values = parameter.grad.detach().double(), parameter.detach().double()
    return float(gradient.norm()) / max(float(values.norm()), 0.01 * values.numel() ** 0.5)
