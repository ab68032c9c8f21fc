"""Batching rules of copies, and conversions to another dtype or device.

Mirrors: aten/src/ATen/functorch/BatchRulesUnaryOps.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import Op, batch_rule
from reftorch._functorch.batch_rules._generic import pointwise

batch_rule("_to_copy")(pointwise)


@batch_rule("clone")
def clone(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    if args[1] not in (None, _C.preserve_format, _C.contiguous_format):  # it would apply to the whole batch
        raise RuntimeError(
            "NYI: Tensor.clone(memory_format) inside vmap is only supported with memory_format torch.preserve_format "
            f"or torch.contiguous_format (got {args[1]})"
        )
    return op(args)
