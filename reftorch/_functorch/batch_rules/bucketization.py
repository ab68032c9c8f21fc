"""Batching rules of searches in sorted sequences.

Mirrors: aten/src/ATen/functorch/BatchRulesModules.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import Op, batch_rule, logical_rank, spread


@batch_rule("bucketize.Tensor")
def bucketize(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    if not batched[1]:
        return op(args)
    values = spread(args[0], batched[0], size)
    flat = _C._VariableFunctions.searchsorted(args[1], values.reshape(size, -1), out_int32=args[2], right=args[3])
    return flat.reshape(values.shape)


@batch_rule("searchsorted.Tensor")
def searchsorted(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    sequence, values = args[0], args[1]
    if not batched[0] and logical_rank(sequence, False) == 1 and not batched[5]:
        return op(args)
    sequence, values = spread(sequence, batched[0], size), spread(values, batched[1], size)
    sorter = spread(args[5], batched[5], size)
    if sequence.dim() > 2:
        return op([sequence, values, *args[2:5], sorter])
    return op([sequence, values.reshape(size, -1), *args[2:5], sorter]).reshape(values.shape)
