"""Batching rules of new tensors that are empty, or filled with one value.

Mirrors: aten/src/ATen/functorch/BatchRulesFactory.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule
from reftorch._functorch.batch_rules._generic import pointwise

batch_rule("zeros_like ones_like full_like empty_like")(pointwise)


@batch_rule("new_empty", "new_zeros", "new_ones", "new_full")
def new(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return op([args[0], [size, *args[1]], *args[2:]])


@batch_rule("new_empty_strided")
def new_empty_strided(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, shape, stride = args[:3]
    reach = 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True)) if 0 not in shape else 0
    return op([self, [size, *shape], [reach, *stride], *args[3:]])
