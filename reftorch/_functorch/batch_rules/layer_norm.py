"""Batching rules of normalization to mean 0 and variance 1.

Mirrors: aten/src/ATen/functorch/BatchRulesNorm.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, spread
from reftorch._functorch.batch_rules._generic import aligned


@batch_rule("native_layer_norm")
def native_layer_norm(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    input, shape, weight, bias, eps = args
    if not batched[2] and not batched[3]:
        return op(args)
    input = spread(input, batched[0], size)
    result, mean, rstd = op([input, shape, None, None, eps])
    result, weight, bias = aligned([result, weight, bias], [True, *batched[2:4]])
    result = result if weight is None else result * weight
    result = result if bias is None else result + bias
    return result.to(input.dtype), mean, rstd


@batch_rule("native_layer_norm_backward")
def native_layer_norm_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    shape, weight, bias, wanted = args[2], args[5], args[6], args[7]
    grad, input, mean, rstd = (spread(args[i], batched[i], size) for i in (0, 1, 3, 4))
    results: list[Any] = [None, None, None]
    if wanted[0]:
        of_normal = grad
        if batched[5]:
            of_normal, factor = aligned([grad, weight], [True, True])
            of_normal = (of_normal * factor).to(grad.dtype)
        factor = None if batched[5] else weight
        results[0] = op([of_normal, input, shape, mean, rstd, factor, None, [True, False, False]])[0]
    outer = list(range(1, input.dim() - len(shape)))
    if wanted[1]:
        of_weight = grad * ((input - mean) * rstd)
        results[1] = (of_weight.sum(outer) if outer else of_weight).to(weight.dtype)
    if wanted[2]:
        results[2] = (grad.sum(outer) if outer else grad).to(bias.dtype)
    return tuple(results)
