"""Batching rules of reading an image at the places of a grid: the batch dimension joins N.

Mirrors: aten/src/ATen/functorch/BatchRulesModules.cpp (grid_sample_batch_rule)
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, spread
from reftorch._functorch.batch_rules._generic import over_images

batch_rule("grid_sampler_2d")(over_images(2))
batch_rule("grid_sampler_3d")(over_images(3))


@batch_rule("grid_sampler_2d_backward grid_sampler_3d_backward")
def backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    tensors = [spread(args[i], batched[i], size) for i in (0, 1, 2)]
    results = op([*(t.flatten(0, 1) for t in tensors), *args[3:]])
    return tuple(None if r is None else r.unflatten(0, (size, tensors[1].size(1))) for r in results)
