"""Batching rules of attention.

Mirrors: aten/src/ATen/functorch/BatchRulesLinearAlgebra.cpp (_scaled_dot_product_flash_attention_batch_rule)
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, spread
from reftorch._functorch.batch_rules._generic import over_dim

batch_rule("_safe_softmax")(over_dim)


@batch_rule("_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention_for_cpu_backward")
def flash_attention(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    """The batch joins the first dimension of all tensors; a mask of two dimensions has none."""
    at = op.position("attn_mask")
    tensors = op.position("dropout_p")
    values = [spread(v, b, size) for v, b in zip(args[:tensors], batched[:tensors], strict=True)]
    n = values[1].size(1)
    mask = args[at]
    if mask is not None and (batched[at] or mask.dim() == 4):
        mask = spread(mask, batched[at], size)
        if mask.dim() == 3:
            mask = mask.unsqueeze(1).unsqueeze(1)
        mask = mask.expand(size, n, *mask.shape[2:]).flatten(0, 1)
    flat = [v.flatten(0, 1) for v in values]
    results = op([*flat, *args[tensors:at], mask, *args[at + 1 :]])
    return tuple(r.unflatten(0, (size, n)) for r in results)
