"""Checks of the loss: its first value, its shape, and whether it is a mean over the batch.

Mirrors: nothing in PyTorch, where people go through such lists by hand.
Left out: whether the loss is the right one for the task.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from reftorch.debug.common.library import no_grad
from reftorch.debug.common.table import shape_text
from reftorch.debug.model.diagnosis.findings import Finding, NotRun
from reftorch.debug.model.diagnosis.program import Program, fixed_random_numbers, mode
from reftorch.debug.model.diagnosis.watch import OpCall, OpWatch
from reftorch.utils._pytree import tree_map

PRODUCTS = ("matmul", "bmm")
SOFTMAXES = ("softmax", "_softmax")
SIGMOIDS = ("sigmoid", "sigmoid_")
NLL_LOSSES = ("nll_loss", "nll_loss_nd", "nll_loss2d")
LOSSES = ("cross_entropy_loss", "binary_cross_entropy_with_logits", *NLL_LOSSES)
SUM = 2  # the number of reduction="sum" among the arguments of a loss
TOLERANCE = 1e-2  # of a sum of probabilities, which float16 rounds


def first_loss(program: Program) -> Iterator[Finding]:
    """Does a classifier give its loss what the loss expects, and is the loss at most that of a guess?"""
    seen: list[OpCall] = []
    sigmoids: list[Any] = []  # kept, so that no other tensor gets the memory of a sigmoid

    def visit(call: OpCall) -> None:
        if call.op in LOSSES and call.inside == 0:
            seen.append(call)
        elif call.op in SIGMOIDS and call.result is not None:
            sigmoids.append(call.result)

    watch = OpWatch(program.model, visit)
    with program.untouched(), mode(program.model, training=False), no_grad(), fixed_random_numbers(), watch:
        loss = float(program.loss())
    if len(seen) != 1:
        raise NotRun("the loss is not one cross entropy")
    scores = seen[0].arguments[0]
    if seen[0].op == "binary_cross_entropy_with_logits":
        if any(key_of(result) == key_of(scores) for result in sigmoids):
            yield Finding(
                "the output of the model",
                "the loss is given the result of a sigmoid, and applies the sigmoid again: sigmoid runs twice",
                "return the scores themselves; binary_cross_entropy_with_logits contains the sigmoid",
            )
        return
    if seen[0].op in NLL_LOSSES:
        if scores.dim() > 1 and not are_log_probabilities(scores):
            yield Finding(
                "the output of the model",
                f"nll_loss is given values that are not logarithms of probabilities: the first row of exp(values) adds "
                f"up to {float(scores.exp().sum(1).flatten()[0]):.4g}, and should add up to 1",
                "return scores and take cross_entropy, or return log_softmax(scores, dim=1)",
            )
        return
    classes = scores.shape[1] if scores.dim() > 1 else scores.shape[0]
    guess = math.log(classes)
    if seen[0].arguments[3] == SUM:
        loss *= classes / scores.numel()
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


def are_log_probabilities(scores: Any) -> bool:
    """Return whether the exponentials add up to 1 over the classes."""
    return bool(((scores.double().exp().sum(1) - 1).abs() < TOLERANCE).all())


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
