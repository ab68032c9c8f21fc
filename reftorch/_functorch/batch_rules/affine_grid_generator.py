"""The batching rule of the grid of an affine map: the batch dimension joins N.

Mirrors: aten/src/ATen/functorch/BatchRulesModules.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule


@batch_rule("affine_grid_generator")
def affine_grid_generator(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    theta, (N, *others), align_corners = args
    return op([theta.flatten(0, 1), [size * N, *others], align_corners]).unflatten(0, (size, N))
