"""Batching rules of interpolation: the batch dimension joins N.

Mirrors: aten/src/ATen/functorch/BatchRulesModules.cpp (UPSAMPLE_BATCH)
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule
from reftorch._functorch.batch_rules._generic import over_images

_OPS = {
    1: "upsample_nearest1d _upsample_nearest_exact1d upsample_linear1d",
    2: "upsample_nearest2d _upsample_nearest_exact2d upsample_bilinear2d upsample_bicubic2d _upsample_bilinear2d_aa "
    "_upsample_bicubic2d_aa _upsample_lanczos2d_aa",
    3: "upsample_nearest3d _upsample_nearest_exact3d upsample_trilinear3d",
}
for _dims, _names in _OPS.items():
    batch_rule(_names)(over_images(_dims))


@batch_rule(*(f"{name}_backward" for names in _OPS.values() for name in names.split()))
def backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    grad, output_size, (N, *others), *options = args
    result = op([grad.flatten(0, 1), output_size, [size * N, *others], *options])
    return result.unflatten(0, (size, N))
