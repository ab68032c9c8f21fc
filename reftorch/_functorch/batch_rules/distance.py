"""Batching rules of distances between vectors, and renorm.

Mirrors: aten/src/ATen/functorch/BatchRulesLinearAlgebra.cpp
Leaves out: nothing.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import Op, batch_rule, call, shifted, spread
from reftorch._functorch.batch_rules._generic import aligned

_fn = _C._VariableFunctions


@batch_rule("dist")
def dist(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    left, right = aligned(args[:2], batched[:2])
    difference = left - right
    return difference.reshape(size, -1).norm(args[2], 1)


@batch_rule("renorm")
def renorm(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, p, dim, maxnorm = args
    rows = self.movedim(shifted(dim, self.dim() - 1), 1)
    flat = _fn.renorm(rows.reshape(size * rows.size(1), -1), p, 0, maxnorm)
    return flat.reshape(rows.shape).movedim(1, shifted(dim, self.dim() - 1))


@batch_rule("_cdist_forward")
def cdist(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    left, right = aligned(args[:2], batched[:2])
    left, right = (spread(v, b, size) for v, b in zip((left, right), batched[:2], strict=True))
    return call(op.name, [left, right, *args[2:]])
