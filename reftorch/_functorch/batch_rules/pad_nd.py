"""Batching rules of padding.

Mirrors: aten/src/ATen/functorch/BatchRulesDecompositions.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule


@batch_rule("constant_pad_nd")
def constant_pad_nd(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    self, pad = args[0], args[1]
    if len(pad) > 2 * (self.dim() - 1):  # the padding would reach the batch dimension
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pad)} while the input has {self.dim() - 1} dimensions."
        )
    return op(args)
