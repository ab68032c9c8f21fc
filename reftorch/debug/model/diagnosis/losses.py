"""Checks of the loss: its first value, its shape, and whether it is a mean over the batch.

Mirrors: nothing in PyTorch, where people go through such lists by hand.
Left out: whether the loss is the right one for the task.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from reftorch.autograd.grad_mode import no_grad
from reftorch.debug.common.table import shape_text
from reftorch.debug.model.diagnosis.findings import Finding, NotRun
from reftorch.debug.model.diagnosis.program import Program, fixed_random_numbers, mode
from reftorch.debug.model.diagnosis.watch import OpCall, OpWatch
from reftorch.utils._pytree import tree_map

PRODUCTS = ("matmul", "bmm")
SOFTMAXES = ("softmax", "_softmax")


def first_loss(program: Program) -> Iterator[Finding]:
    """Of a classifier: is the loss at most that of a guess?"""
    seen: list[OpCall] = []
    watch = OpWatch(program.model, lambda call: seen.append(call) if call.op == "cross_entropy_loss" else None)
    with program.untouched(), mode(program.model, training=False), no_grad(), fixed_random_numbers(), watch:
        loss = float(program.loss())
    if len(seen) != 1:
        raise NotRun("the loss is not one cross entropy")
    scores = seen[0].arguments[0]
    classes = scores.shape[1] if scores.dim() > 1 else scores.shape[0]
    guess = math.log(classes)
    if bool((scores >= 0).all()) and bool(((scores.sum(1 if scores.dim() > 1 else 0) - 1).abs() < 1e-4).all()):
        yield Finding(
            "the output of the model",
            "the cross entropy is given probabilities: each row is positive and adds up to 1, so softmax runs twice",
            "return the scores themselves; cross_entropy contains the softmax",
        )
    elif loss > 3 * guess + 1:
        yield Finding(
            "the last layer, or the targets",
            f"the loss is {loss:.4g}; a guess among {classes} classes costs log({classes}) = {guess:.4g}",
            "initialize the last layer with smaller values, normalize the inputs, and look at the targets",
        )


def broadcast_loss(program: Program) -> Iterator[Finding]:
    """Does the loss combine each prediction with each target?"""
    if program.loss_fn is None:
        raise NotRun("the model computes the loss itself")
    places: list[str] = []

    def visit(call: OpCall) -> None:
        shapes = [tuple(tensor.shape) for tensor in call.tensors[:2]]
        if call.inside or call.result is None or len(shapes) != 2 or call.op in PRODUCTS:
            return
        ranks = [len(shape) for shape in shapes]
        if ranks[0] == ranks[1] or 0 in ranks or not broadcasts(*shapes):
            return
        if grown(*shapes) > max(math.prod(shape) for shape in shapes):
            places.append(f"{call.op} of {shape_text(shapes[0])} and {shape_text(shapes[1])} at {call.line}")

    with program.untouched(), no_grad():
        output = program.call(program.inputs)
        with OpWatch(program.model, visit):
            program.loss_of(output, program.target)
    if places:
        yield Finding(
            places[0],
            "two tensors of different ranks are broadcast to a larger one: each prediction meets each target",
            "give both the same shape: prediction.squeeze(-1), or target.unsqueeze(-1)",
        )


def broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(x == y or 1 in (x, y) for x, y in zip(reversed(a), reversed(b), strict=False))


def grown(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    """Return the number of elements of the shape to which two shapes are broadcast."""
    rank = max(len(a), len(b))
    padded = [(1,) * (rank - len(shape)) + shape for shape in (a, b)]
    return math.prod(max(pair) for pair in zip(*padded, strict=True))


def summed_loss(program: Program) -> Iterator[Finding]:
    """Does the loss grow with the number of samples?"""

    def twice(value: Any) -> Any:
        whole = program.has_samples(value) and value.shape[program.batch_dim] == program.batch_size
        return value.detach().repeat_interleave(2, program.batch_dim) if whole else value

    with program.untouched(), mode(program.model, training=False), no_grad(), fixed_random_numbers():
        once = float(program.loss())
        try:
            double = float(program.loss(tree_map(twice, program.batch)))
        except Exception as error:
            raise NotRun(f"the model does not take twice the samples: {type(error).__name__}") from error
    if abs(once) > 1e-6 and abs(double / once - 2) < 1e-2:
        yield Finding(
            "the loss",
            f"the loss doubles with the number of samples, {once:.4g} to {double:.4g}: it is a sum over the batch, so "
            "the size of a step depends on the batch size",
            'use reduction="mean", or divide by the number of samples',
        )


def softmax_of_attention(program: Program) -> Iterator[Finding]:
    """Do the weights of an attention add up to 1 along the dimension over which the product sums?"""
    softmaxes: dict[tuple, tuple[int, str]] = {}
    places: list[str] = []
    kept: list[Any] = []  # so that no other tensor gets the memory of a softmax

    def visit(call: OpCall) -> None:
        if call.op in SOFTMAXES and call.result is not None:
            dim = call.arguments[1] % call.result.dim()
            softmaxes[key_of(call.result)] = (dim, call.where)
            kept.append(call.result)
        elif call.op in PRODUCTS and call.inside == 0 and len(call.tensors) == 2:
            for tensor, summed in zip(call.tensors, (-1, -2), strict=True):
                if key_of(tensor) in softmaxes and tensor.dim() >= 2:
                    dim, place = softmaxes[key_of(tensor)]
                    if dim != tensor.dim() + summed:
                        places.append(f"softmax over dimension {dim} at {place}")

    with program.untouched(), mode(program.model, training=False), no_grad(), OpWatch(program.model, visit):
        program.call(program.inputs)
    if not softmaxes:
        raise NotRun("no softmax is called")
    if places:
        yield Finding(
            places[0],
            "the product with these weights sums over another dimension than the one along which they add up to 1",
            "softmax over the keys, the last dimension of the scores: dim=-1",
        )


def key_of(tensor: Any) -> tuple:
    return (tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()))
