"""Batching rule of dropout with its mask. The other kinds of dropout draw by ``bernoulli``, which has a rule.

Mirrors: aten/src/ATen/functorch/BatchRulesRandomness.cpp (native_dropout_batching_rule)
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, front, spread
from reftorch._functorch.batch_rules._random import _checked, random_rule


@random_rule("native_dropout")
def native_dropout(op: Op, args: list[Any], dims: list[Any], size: int, randomness: str, level: int) -> tuple[Any, Any]:
    input, p, train = args
    if train is not False:
        _checked(randomness)
    value = spread(front(input, dims[0]), dims[0] is not None, size)
    if train is False or randomness == "different":
        return op([value, p, train]), (0, 0)
    mask = op([value[0], p, train])[1]  # the examples share the noise
    scale = 0.0 if p == 1 else 1 / (1 - p)
    return (value * mask * scale, mask.expand(value.shape)), (0, 0)
