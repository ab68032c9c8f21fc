"""Batching rules of triangles and diagonals of matrices.

Mirrors: aten/src/ATen/functorch/BatchRulesViews.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, shifted
from reftorch._functorch.batch_rules._generic import pointwise

batch_rule("tril triu")(pointwise)


@batch_rule("trace")
def trace(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return args[0].diagonal(0, 1, 2).sum(1)


@batch_rule("diag_embed")
def diag_embed(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, offset, dim1, dim2 = args
    return op([self, offset, shifted(dim1, self.dim()), shifted(dim2, self.dim())])
