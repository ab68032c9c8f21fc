"""Checks of what must not meet: the samples of a batch, a position and its future, a target and its input.

Mirrors: nothing in PyTorch, where people go through such lists by hand.
Left out: models of one sample; models that mix samples on purpose find this check in ``skip``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reftorch.debug.common.flatten import flatten
from reftorch.debug.common.library import is_tensor, library_of, no_grad
from reftorch.debug.model.diagnosis.findings import Finding, NotRun
from reftorch.debug.model.diagnosis.program import Program, fixed_random_numbers, mode
from reftorch.debug.model.diagnosis.watch import OpCall, OpWatch
from reftorch.utils._pytree import tree_leaves, tree_map

SIZES = (5, 7, 11, 13, 17, 19, 23)  # primes, so that another dimension of this size, or of its multiple, is rare


def mixed_samples(program: Program) -> Iterator[Finding]:
    """In evaluation mode, does the output of one sample depend on the other samples?"""
    count = program.batch_size
    if count < 2:
        raise NotRun("the batch has one sample")
    size = unusual_size(program)
    order = [i % count for i in range(size)]
    with program.untouched(), mode(program.model, training=False), no_grad():
        runs = []
        for chosen in (order, [0] * size):
            slices: list[tuple[str, str, Any]] = []
            with OpWatch(program.model, SampleZero(slices, size)), fixed_random_numbers():
                try:
                    output = program.call(
                        tree_map(lambda value, chosen=chosen: selected(program, value, chosen), program.inputs)
                    )
                except Exception as error:
                    raise NotRun(f"the model does not take {size} samples: {type(error).__name__}") from error
            runs.append((slices, [first_of(t, size) for _, t in flatten(output, "")]))
    outputs = zip(runs[0][1], runs[1][1], strict=True)
    if all(a is None or b is None or close(a, b) for a, b in outputs):
        return
    where = "the model"
    for (op, place, a), (other, _, b) in zip(runs[0][0], runs[1][0], strict=False):
        if op != other:
            break
        if not close(a, b):
            where = f"{op} at {place}"
            break
    yield Finding(
        where,
        "in evaluation mode, the output of the first sample changes when the other samples of the batch change",
        "look for a softmax or a mean over the batch dimension, a view that mixes dimensions, or a batch norm that "
        "uses the statistics of the batch (track_running_stats=False)",
    )


def unusual_size(program: Program) -> int:
    """Return a number of samples that no other dimension of the inputs and of the parameters has."""
    sizes = {n for p in program.model.parameters() for n in p.shape}
    for tensor in tree_leaves(program.inputs):
        if program.has_samples(tensor):
            sizes |= {n for i, n in enumerate(tensor.shape) if i != program.batch_dim}
    return next((n for n in SIZES if not any(size % n == 0 for size in sizes if size)), SIZES[-1])


def selected(program: Program, value: Any, chosen: list[int]) -> Any:
    """Return the chosen samples of a tensor that has one for each sample of the batch."""
    if not program.has_samples(value) or value.shape[program.batch_dim] != program.batch_size:
        return value
    return value.index_select(program.batch_dim, library_of(value).tensor(chosen)).detach()


class SampleZero:
    """Keep, of each op's result, the part that belongs to the first sample."""

    def __init__(self, slices: list[tuple[str, str, Any]], size: int) -> None:
        self.slices, self.size = slices, size

    def __call__(self, call: OpCall) -> None:
        if call.inside == 0 and call.result is not None:
            part = first_of(call.result, self.size)
            if part is not None:
                self.slices.append((call.op, call.where, part))


@no_grad()
def first_of(tensor: Any, size: int) -> Any:
    """Return a copy of the part of the first sample, along the dimension that has this size or a multiple of it."""
    for dim, length in enumerate(tensor.shape):
        if length and length % size == 0 and tensor.is_floating_point():
            return tensor.detach().narrow(dim, 0, length // size).clone()
    return None


def close(a: Any, b: Any) -> bool:
    if a.shape != b.shape:
        return False
    same = (a == b) | (a.isnan() & b.isnan())
    gap = (a.double() - b.double()).abs().masked_fill(same, 0.0)
    scale = b.double().abs().masked_fill(~b.isfinite(), 0.0)
    return bool((gap <= 1e-4 * scale.max() + 1e-7).all()) if a.numel() else True


def shifted_target(program: Program) -> Iterator[Finding]:
    """Is the target of a sequence model the next token, and not one that the model sees?"""
    x, y = token_ids(program)
    if agree(x[:, 1:], y[:, :-1]):
        return
    wrong = {
        "equals the input, position by position": agree(x, y),
        "is the token before the input's position": agree(x[:, :-1], y[:, 1:]),
        "is the token two positions after the input's": agree(x[:, 2:], y[:, :-2]),
    }
    for what, holds in wrong.items():
        if holds:
            yield Finding(
                "the batch",
                f"the target {what}: the model learns to copy, or to skip a token, and not to predict the next one",
                "inputs = tokens[:, :-1] and target = tokens[:, 1:]",
            )


def token_ids(program: Program) -> tuple[Any, Any]:
    """Return the inputs and the targets of a model of sequences of integers, each [N, T]."""
    inputs = [t for t in tree_leaves(program.inputs) if is_tensor(t) and is_integer(t) and t.dim() == 2]
    target = program.target
    if not is_tensor(target) or not is_integer(target):
        raise NotRun("the target is not a sequence of integers")
    same = [t for t in inputs if t.numel() == target.numel() and t.shape[1] > 2]
    if not same:
        raise NotRun("no input is a sequence of integers of the target's shape")
    return same[0], target.reshape(same[0].shape)


def is_integer(tensor: Any) -> bool:
    return not tensor.is_floating_point() and not tensor.is_complex() and "bool" not in str(tensor.dtype)


def agree(x: Any, y: Any) -> bool:
    """Return whether the tokens agree wherever the target counts; padding is negative."""
    counts = y >= 0
    return bool(counts.any()) and bool((x[counts] == y[counts]).all()) and x.unique().numel() > 1


def seen_future(program: Program) -> Iterator[Finding]:
    """Where the target is the next token: does an output depend on later inputs?"""
    x, y = token_ids(program)
    if not agree(x[:, 1:], y[:, :-1]):
        raise NotRun("the target is not the next token")
    half = x.shape[1] // 2
    other = x.clone()
    other[:, half:] = x[:, half:].flip(1).roll(1, 0)
    if bool((other == x).all()):
        raise NotRun("the sequences are all alike")
    with program.untouched(), mode(program.model, training=False), no_grad():
        outputs = []
        for tokens in (x, other):
            output = program.call(
                tree_map(lambda value, tokens=tokens: tokens if value is x else value, program.inputs)
            )
            outputs.append([t for _, t in flatten(output, "") if t.dim() > 2 and t.shape[:2] == x.shape])
    if outputs[0] and not close(outputs[0][0][:, :half], outputs[1][0][:, :half]):
        yield Finding(
            "the model",
            f"the outputs of the first {half} positions change when later inputs change: the answer is visible",
            "mask the attention: is_causal=True, or a mask that is -inf above the diagonal",
        )
