"""Batching rules of convolutions.

Mirrors: aten/src/ATen/functorch/BatchRulesConvolution.cpp
Leaves out: kernels with a batch of their own as groups of one convolution; they run example by example.
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule
from reftorch._functorch.batch_rules._generic import one_by_one


@batch_rule("convolution")
def convolution(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    input = args[0]
    if batched[1] or batched[2] or input.dim() < 4:  # a batch of (N, C, L) has at least four dimensions
        return one_by_one(op, args, batched, size)
    result = op([input.flatten(0, 1), *args[1:]])
    return result.reshape(size, input.size(1), *result.shape[1:])


# The gradient of the kernels is another one for each example.
batch_rule("convolution_backward")(one_by_one)


@batch_rule("conv_tbc")
def conv_tbc(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    if batched[1] or batched[2]:
        return one_by_one(op, args, batched, size)
    result = op([args[0].movedim(0, 1).flatten(1, 2), *args[1:]])  # (T, size B, C)
    return result.unflatten(1, (size, -1)).movedim(1, 0)
