"""Batching rules of grids, products and combinations of the elements of tensors.

Mirrors: aten/src/ATen/functorch/BatchRulesViews.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import Op, batch_rule, spread

_fn = _C._VariableFunctions


@batch_rule("block_diag")
def block_diag(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    matrices = []
    for t, b in zip(args[0], batched[0], strict=True):
        t = spread(t, b, size)
        matrices.append(t.reshape(size, *[1] * (3 - t.dim()), *t.shape[1:]))
    rows, cols = sum(m.size(1) for m in matrices), sum(m.size(2) for m in matrices)
    result = matrices[0].new_zeros((size, rows, cols))
    row = col = 0
    for m in matrices:
        pads = m.new_zeros((size, rows, cols))
        place = pads[:, row : row + m.size(1), col : col + m.size(2)]
        place.copy_(m)
        result = result + pads
        row, col = row + m.size(1), col + m.size(2)
    return result
