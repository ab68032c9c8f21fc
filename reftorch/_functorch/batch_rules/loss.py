"""Batching rules of the losses of numbers: mse, smooth_l1, huber, binary cross entropy, soft margin.

Mirrors: aten/src/ATen/functorch/BatchRulesLoss.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, reduced, spread
from reftorch._functorch.batch_rules._generic import aligned


@batch_rule("mse_loss")
def mse_loss(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    prediction, target = aligned(args[:2], batched[:2])
    return reduced((prediction - target).square(), args[2])


@batch_rule("mse_loss_backward")
def mse_loss_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    grad, prediction, target = aligned(args[:3], batched[:3])
    product = grad * (prediction - target)
    return product * (2 / (product.numel() // size) if args[3] == 1 else 2)


@batch_rule("smooth_l1_loss", "huber_loss")
def straight_loss(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    prediction, target = aligned(args[:2], batched[:2])
    return reduced(op([prediction, target, 0, args[3]]), args[2])


@batch_rule("smooth_l1_loss_backward", "huber_loss_backward")
def straight_loss_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    slope = op([*aligned(args[:3], batched[:3]), 0, args[4]])
    return slope / (slope.numel() // size) if args[3] == 1 else slope


def _spread_and_aligned(args: list[Any], batched: list[Any], size: int) -> list[Any]:
    """Return the tensors with a batch dimension each, so that they broadcast as for one example; None stays."""
    given = [i for i, value in enumerate(args) if value is not None]
    tensors = iter(aligned([spread(args[i], batched[i], size) for i in given], [True] * len(given)))
    return [next(tensors) if i in given else None for i in range(len(args))]


@batch_rule("binary_cross_entropy")
def binary_cross_entropy(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return reduced(op([*_spread_and_aligned(args[:3], batched, size), 0]), args[3])


@batch_rule("binary_cross_entropy_backward")
def binary_cross_entropy_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    grad, self, target, weight = _spread_and_aligned(args[:4], batched, size)
    slope = op([grad, self, target, weight, 0])
    return slope / max(slope.numel() // size, 1) if args[4] == 1 else slope


@batch_rule("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return reduced(op([*_spread_and_aligned(args[:4], batched, size), 0]), args[4])


@batch_rule("soft_margin_loss")
def soft_margin_loss(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return reduced(op([*_spread_and_aligned(args[:2], batched, size), 0]), args[2])


@batch_rule("soft_margin_loss_backward")
def soft_margin_loss_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    slope = op([*_spread_and_aligned(args[:3], batched, size), 0])
    return slope / max(slope.numel() // size, 1) if args[3] == 1 else slope
