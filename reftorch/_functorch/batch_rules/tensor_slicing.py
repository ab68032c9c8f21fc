"""Batching rules of parts of a tensor: slices, diagonals, pieces.

Mirrors: aten/src/ATen/functorch/BatchRulesViews.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, shifted
from reftorch._functorch.batch_rules._generic import part, part_backward

batch_rule("select.int slice.Tensor unbind.int split.Tensor split_with_sizes")(part)
batch_rule("select_backward slice_backward")(part_backward)


@batch_rule("diagonal")
def diagonal(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, offset, dim1, dim2 = args
    rank = self.dim() - 1
    return op([self, offset, shifted(dim1, rank), shifted(dim2, rank)])


@batch_rule("diagonal_backward")
def diagonal_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    grad, sizes, offset, dim1, dim2 = args
    rank = len(sizes)
    return op([grad, [size, *sizes], offset, shifted(dim1, rank), shifted(dim2, rank)])
