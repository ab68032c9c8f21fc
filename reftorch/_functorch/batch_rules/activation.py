"""Batching rules of the nonlinear functions of networks.

Mirrors: aten/src/ATen/functorch/BatchRulesActivation.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, spread
from reftorch._functorch.batch_rules._generic import aligned, broadcasting, pointwise
from reftorch._functorch.batch_rules._random import of_tensors, random_rule

batch_rule("hardswish log_sigmoid_forward")(pointwise)
batch_rule("""
    elu_backward hardshrink_backward hardsigmoid_backward hardswish_backward hardtanh_backward leaky_relu_backward
    mish_backward softplus_backward softshrink_backward
""")(broadcasting)


@batch_rule("log_sigmoid_backward")
def log_sigmoid_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return op([spread(v, b, size) for v, b in zip(args, batched, strict=True)])


@batch_rule("_prelu_kernel _prelu_kernel_backward")
def prelu_kernel(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return op(aligned([spread(v, b, size) for v, b in zip(args, batched, strict=True)], [True] * len(args)))


@batch_rule("rrelu_with_noise_backward")
def rrelu_with_noise_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    return op([*(spread(v, b, size) for v, b in zip(args[:3], batched[:3], strict=True)), *args[3:]])


@random_rule("rrelu_with_noise rrelu_with_noise_")
def rrelu_with_noise(
    op: Op, args: list[Any], dims: list[Any], size: int, randomness: str, level: int
) -> tuple[Any, Any]:
    is_training = args[4]
    return of_tensors(op, args, dims, size, randomness if is_training else "different", level)
