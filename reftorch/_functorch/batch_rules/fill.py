"""Batching rules of ops that fill a tensor with one value.

Mirrors: aten/src/ATen/functorch/BatchRulesUnaryOps.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import Op, batch_rule
from reftorch._functorch.batch_rules._generic import copied, pointwise

batch_rule("fill.Scalar")(pointwise)
batch_rule("fill_.Tensor")(copied)


@batch_rule("fill_.Scalar")
def fill_(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return _C._VariableFunctions.full_like(args[0], args[1])


@batch_rule("zero_")
def zero_(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return _C._VariableFunctions.zeros_like(args[0])
