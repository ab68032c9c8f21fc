"""What the batching rules of the negative log likelihood share, of rows and of images: dimension 1 holds the classes.

Mirrors: aten/src/ATen/functorch/BatchRulesLoss.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import Op, spread

_fn = _C._VariableFunctions


def _chosen(self: Any, target: Any, weight: Any, ignore_index: int, size: int) -> tuple[Any, Any, Any]:
    """Return the class of each row as an index into ``self``, the dimension of the classes, and each row's weight."""
    dim = 1 if self.dim() == 2 else 2
    target = target.to(_C.int64).unsqueeze(dim)
    kept = target != ignore_index
    target = _fn.where(kept, target, 0)
    if weight is None:
        return target, dim, kept.to(self.dtype)
    flat = weight.gather(1, target.reshape(size, -1)).reshape(target.shape)
    return target, dim, flat * kept


def nll_loss_forward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, target, weight = (spread(v, b, size) for v, b in zip(args[:3], batched[:3], strict=True))
    reduction, ignore_index = args[3:]
    target, dim, weights = _chosen(self, target, weight, ignore_index, size)
    loss = (-self.gather(dim, target) * weights).squeeze(dim)
    total = weights.reshape(size, -1).sum(1)
    if reduction == 0:
        return loss, (_fn.zeros_like(total) if self.dim() >= 3 else total)
    summed = loss.reshape(size, -1).sum(1)
    return (summed / total if reduction == 1 else summed), total


def nll_loss_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    grad, self, target, weight = (spread(v, b, size) for v, b in zip(args[:4], batched[:4], strict=True))
    reduction, ignore_index, total = args[4], args[5], spread(args[6], batched[6], size)
    target, dim, weights = _chosen(self, target, weight, ignore_index, size)
    if reduction == 0:
        share = grad.unsqueeze(dim)
    else:
        share = (grad / total if reduction == 1 else grad).reshape(size, *[1] * (self.dim() - 1))
    return _fn.zeros_like(self).scatter(dim, target, -(share * weights))
