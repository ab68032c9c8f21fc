"""Batching rules of copies of a tensor with a part replaced.

Mirrors: aten/src/ATen/functorch/BatchRulesScatterOps.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, shifted, spread


@batch_rule("as_strided_scatter")
def as_strided_scatter(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    raise RuntimeError(
        f"Error: aten::{op.name} requires special handling, and does not yet have a batching rule. "
        "Hint: its offset counts from the start of the memory, which is that of all examples."
    )


@batch_rule("select_scatter", "slice_scatter")
def part_scatter(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    args[0], args[1] = spread(args[0], batched[0], size), spread(args[1], batched[1], size)
    at = op.position("dim")
    args[at] = shifted(args[at], args[0].dim() - 1)
    return op(args)


@batch_rule("diagonal_scatter")
def diagonal_scatter(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, source = spread(args[0], batched[0], size), spread(args[1], batched[1], size)
    rank = self.dim() - 1
    return op([self, source, args[2], shifted(args[3], rank), shifted(args[4], rank)])
