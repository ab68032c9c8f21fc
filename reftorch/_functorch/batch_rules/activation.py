"""Batching rules of the nonlinear functions of networks.

Mirrors: aten/src/ATen/functorch/BatchRulesActivation.cpp
Leaves out: nothing.
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, spread
from reftorch._functorch.batch_rules._generic import broadcasting, pointwise

batch_rule("hardswish log_sigmoid_forward")(pointwise)
batch_rule("""
    elu_backward hardshrink_backward hardsigmoid_backward hardswish_backward hardtanh_backward leaky_relu_backward
    mish_backward softplus_backward softshrink_backward
""")(broadcasting)


@batch_rule("log_sigmoid_backward")
def log_sigmoid_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return op([spread(v, b, size) for v, b in zip(args, batched, strict=True)])
