"""Batching rules of softmax and its logarithm.

Mirrors: aten/src/ATen/functorch/BatchRulesReduceOps.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, shifted, spread
from reftorch._functorch.batch_rules._generic import over_dim

batch_rule("_softmax _log_softmax")(over_dim)


@batch_rule("_softmax_backward_data", "_log_softmax_backward_data")
def softmax_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    grad, output = (spread(v, b, size) for v, b in zip(args[:2], batched[:2], strict=True))
    rank = grad.dim() - 1
    dim = shifted(args[2], rank)
    if rank > 0:
        return op([grad, output, dim, args[3]])
    return op([grad.unsqueeze(1), output.unsqueeze(1), dim, args[3]]).squeeze(1)
