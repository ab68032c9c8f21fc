"""Batching rules of reading and writing at an index for each element.

Mirrors: aten/src/ATen/functorch/BatchRulesScatterOps.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import Op, batch_rule, logical_rank, shifted, spread


@batch_rule("gather", "scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce", "scatter_add",
            "scatter_reduce.two")  # fmt: skip
def gather(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    rank = logical_rank(args[0], batched[0])
    values = [spread(v, b, size) if isinstance(v, _C.TensorBase) else v for v, b in zip(args, batched, strict=True)]
    values[1] = shifted(args[1], rank)
    if rank > 0:
        return op(values)
    values = [v.unsqueeze(1) if isinstance(v, _C.TensorBase) and v.dim() == 1 else v for v in values]
    return op(values).squeeze(1)
