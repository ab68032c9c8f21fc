"""Batching rules of products of a vector with a matrix or a vector.

Mirrors: aten/src/ATen/functorch/BatchRulesLinearAlgebra.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import Op, batch_rule, check_ranks, spread
from reftorch._functorch.batch_rules._generic import plus

_fn = _C._VariableFunctions


@batch_rule("mv")
def mv(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    check_ranks(op, args, batched, (2, 1))
    return _fn.matmul(args[0], args[1].unsqueeze(-1)).squeeze(-1)


@batch_rule("dot", "vdot")
def dot(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    check_ranks(op, args, batched, (1, 1))
    return _fn.matmul(args[0].unsqueeze(-2), args[1].unsqueeze(-1)).squeeze((-2, -1))


@batch_rule("addmv")
def addmv(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    check_ranks(op, args[1:], batched[1:], (2, 1))
    product = _fn.matmul(args[1], args[2].unsqueeze(-1)).squeeze(-1)
    return plus(args, batched, spread(product, batched[1] or batched[2], size))
