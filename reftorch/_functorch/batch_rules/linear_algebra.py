"""Batching rules of products of matrices.

Mirrors: aten/src/ATen/functorch/BatchRulesLinearAlgebra.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import Op, batch_rule, check_ranks, spread
from reftorch._functorch.batch_rules._generic import plus

_fn = _C._VariableFunctions


@batch_rule("mm", "bmm")
def mm(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    check_ranks(op, args, batched, (2, 2) if op.name == "mm" else (3, 3))
    return _fn.matmul(*args)


@batch_rule("addmm", "baddbmm")
def addmm(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    check_ranks(op, args[1:], batched[1:], (2, 2) if op.name == "addmm" else (3, 3))
    product = _fn.matmul(args[1], args[2])
    return plus(args, batched, spread(product, batched[1] or batched[2], size))


@batch_rule("addbmm")
def addbmm(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    check_ranks(op, args[1:], batched[1:], (3, 3))
    product = _fn.matmul(args[1], args[2]).sum(-3)
    return plus(args, batched, spread(product, batched[1] or batched[2], size))


@batch_rule("addr")
def addr(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    check_ranks(op, args[1:], batched[1:], (1, 1))
    product = args[1].unsqueeze(-1) * args[2].unsqueeze(-2)
    return plus(args, batched, spread(product, batched[1] or batched[2], size))
