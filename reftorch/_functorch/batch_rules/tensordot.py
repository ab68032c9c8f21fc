"""Batching rules of inner, Kronecker and cross products, and Vandermonde matrices.

Mirrors: aten/src/ATen/functorch/BatchRulesLinearAlgebra.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, logical_rank, shifted, spread
from reftorch._functorch.batch_rules._generic import aligned


@batch_rule("linalg_cross")
def cross(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    rank = max(logical_rank(v, b) for v, b in zip(args[:2], batched[:2], strict=True))
    left, right = aligned(args[:2], batched[:2])
    left, right = (spread(v, b, size) for v, b in zip((left, right), batched[:2], strict=True))
    return op([left, right, shifted(args[2], rank)])
