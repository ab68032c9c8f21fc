"""Batching rules of reversing, rolling and rotating.

Mirrors: aten/src/ATen/functorch/BatchRulesViews.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, shifted


@batch_rule("flip")
def flip(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    rank = args[0].dim() - 1
    dims = [shifted(d, rank) for d in args[1]]
    return op([args[0], dims if rank else []])


@batch_rule("roll")
def roll(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, shifts, dims = args
    if len(dims) == 0:
        return op([self.reshape(size, -1), shifts, [1]]).reshape(self.shape)
    return op([self, shifts, [shifted(d, self.dim() - 1) for d in dims]])


@batch_rule("rot90")
def rot90(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, k, dims = args
    return op([self, k, [shifted(d, self.dim() - 1) for d in dims]])
