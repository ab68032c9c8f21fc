"""Batching rules of joining tensors.

Mirrors: aten/src/ATen/functorch/BatchRulesViews.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, shifted, spread


@batch_rule("repeat")
def repeat(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, repeats = args
    missing = len(repeats) - (self.dim() - 1)
    return op([self.reshape(size, *[1] * missing, *self.shape[1:]), [1, *repeats]])


@batch_rule("cat")
def cat(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    tensors = [spread(t, b, size) for t, b in zip(args[0], batched[0], strict=True)]
    rank = max(t.dim() for t in tensors) - 1
    kept = [t for t in tensors if t.dim() == rank + 1 or t.numel() or t.dim() != 2]  # an empty vector fits any tensor
    return op([kept, shifted(args[1], rank)])


@batch_rule("stack")
def stack(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    tensors = [spread(t, b, size) for t, b in zip(args[0], batched[0], strict=True)]
    return op([tensors, shifted(args[1], tensors[0].dim())])
