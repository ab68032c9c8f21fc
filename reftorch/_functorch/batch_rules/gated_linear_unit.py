"""Batching rules of glu.

Mirrors: aten/src/ATen/functorch/BatchRulesActivation.cpp (glu_batch_rule, glu_backward_batch_rule)
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, logical_rank, spread


def _dim(dim: int, rank: int) -> int:
    if rank == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    return dim % rank + 1


@batch_rule("glu")
def glu(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return op([args[0], _dim(args[1], logical_rank(args[0], batched[0]))])


@batch_rule("glu_backward")
def glu_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    grad, self = (spread(v, b, size) for v, b in zip(args[:2], batched[:2], strict=True))
    return op([grad, self, _dim(args[2], self.dim() - 1)])
