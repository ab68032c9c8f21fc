"""Batching rules of windows along a dimension.

Mirrors: aten/src/ATen/functorch/BatchRulesViews.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, shifted
from reftorch._functorch.batch_rules._generic import part_backward

batch_rule("unfold_backward")(part_backward)


@batch_rule("unfold")
def unfold(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, dim, length, step = args
    rank = self.dim() - 1
    return op([self, shifted(dim, rank), length, step]) if rank else op([self.unsqueeze(1), 1, length, step]).squeeze(1)
