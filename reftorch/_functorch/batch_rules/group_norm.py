"""Batching rules of normalization of groups of channels: the batch dimension joins N.

Mirrors: aten/src/ATen/functorch/BatchRulesNorm.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, spread
from reftorch._functorch.batch_rules._generic import one_by_one


@batch_rule("native_group_norm")
def native_group_norm(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    """Weights that differ from example to example are multiplied after the op."""
    input, weight, bias, N, C, *others = args
    input = spread(input, batched[0], size)
    inside = [None if is_batched else value for value, is_batched in zip(args[1:3], batched[1:3], strict=True)]
    inside[1] = None if batched[1] else inside[1]  # a bias comes after the weight
    result, mean, rstd = op([input.flatten(0, 1), *inside, size * N, C, *others])
    result = result.unflatten(0, (size, N))
    ones = [1] * (result.dim() - 3)
    if batched[1]:
        result = (result * weight.reshape(size, 1, C, *ones)).to(input.dtype)
    if bias is not None and inside[1] is None:
        result = (result + spread(bias, batched[2], size).reshape(size, 1, C, *ones)).to(input.dtype)
    return result, mean.unflatten(0, (size, N)), rstd.unflatten(0, (size, N))


batch_rule("native_group_norm_backward")(one_by_one)
