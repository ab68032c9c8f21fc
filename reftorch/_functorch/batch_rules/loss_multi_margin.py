"""Batching rules of the margin losses of classes: the examples of the batch become rows of one call.

Mirrors: aten/src/ATen/functorch/BatchRulesLoss.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, reduced, spread


def _rows(x: Any, rank: int) -> Any:
    """Join the batch with the rows: (B, N, C) and (B, C) become two-dimensional if rank is 2."""
    return x.reshape(-1, *x.shape[x.dim() - rank + 1 :])


def _gradient_of_rows(grad: Any, rows: int, size: int, reduction: int) -> Any:
    """Return one gradient for each row of the batch; a mean divides it by the number of rows of an example."""
    grad = grad.reshape(size, -1).expand(size, rows // size).reshape(rows)
    return grad / max(rows // size, 1) if reduction == 1 else grad


def _weight_of_rows(weight: Any, target: Any, size: int) -> Any:
    """Return the weight of each row's class; weight (B, C), target (B * N)."""
    return weight.gather(1, target.reshape(size, -1)).reshape(target.shape)


@batch_rule("multi_margin_loss")
def multi_margin_loss(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, target, p, margin, weight, reduction = args
    self, target = spread(self, batched[0], size), spread(target, batched[1], size)
    rows, classes = _rows(self, 2), target.reshape(-1)
    loss = op([rows, classes, p, margin, None, 0])
    if weight is not None:
        loss = loss * _weight_of_rows(spread(weight, batched[4], size), classes, size)
    return reduced(loss.reshape(target.shape), reduction)


@batch_rule("multi_margin_loss_backward")
def multi_margin_loss_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    grad, self, target, p, margin, weight, reduction = args
    grad, self, target = (spread(v, b, size) for v, b in zip((grad, self, target), batched[:3], strict=True))
    rows, classes = _rows(self, 2), target.reshape(-1)
    grad = _gradient_of_rows(grad, rows.size(0), size, reduction)
    if weight is not None:
        grad = grad * _weight_of_rows(spread(weight, batched[5], size), classes, size)
    return op([grad, rows, classes, p, margin, None, 0]).reshape(self.shape)


@batch_rule("multilabel_margin_loss_forward")
def multilabel_margin_loss_forward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, target = (spread(v, b, size) for v, b in zip(args[:2], batched[:2], strict=True))
    loss, is_target = op([_rows(self, 2), _rows(target, 2), 0])
    return reduced(loss.reshape(self.shape[:-1]), args[2]), is_target.reshape(target.shape)


@batch_rule("multilabel_margin_loss_backward")
def multilabel_margin_loss_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    grad, self, target, reduction, is_target = args
    grad, self, target = (spread(v, b, size) for v, b in zip((grad, self, target), batched[:3], strict=True))
    rows = _rows(self, 2)
    grad = _gradient_of_rows(grad, rows.size(0), size, reduction)
    is_target = _rows(spread(is_target, batched[4], size), 2)
    return op([grad, rows, _rows(target, 2), 0, is_target]).reshape(self.shape)
