"""Batching rules of reading and writing where a mask is true.

Mirrors: aten/src/ATen/functorch/BatchRulesScatterOps.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import Op, batch_rule
from reftorch._functorch.batch_rules._generic import aligned, dynamic_shape

batch_rule("masked_select")(dynamic_shape)


@batch_rule("masked_fill.Tensor")
def masked_fill(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, mask, value = aligned(args, batched)
    return _C._VariableFunctions.where(mask, value.to(self.dtype), self)
