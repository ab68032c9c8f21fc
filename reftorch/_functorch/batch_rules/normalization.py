"""Batching rules of the normalization of channels over a batch: the batch dimension of vmap joins the channels.

Each channel has its own mean and variance, so that B examples with C channels each are one input with B * C channels.

Mirrors: aten/src/ATen/functorch/BatchRulesNorm.cpp
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule, spread


def _joined(input: Any, batched: bool, size: int) -> Any:
    """Return (B, N, C, *) as (N, B * C, *)."""
    return spread(input, batched, size).movedim(0, 1).flatten(1, 2)


def _parted(result: Any, size: int) -> Any:
    """Return (N, B * C, *) as (B, N, C, *)."""
    return result.unflatten(1, (size, result.shape[1] // size)).movedim(1, 0)


def _rows(values: Any, size: int) -> Any:
    """Return (B * C) as (B, C); values that do not exist in evaluation mode have no elements, and remain so."""
    return values.reshape(size, values.numel() // size)


def _channels(values: Any, batched: bool, size: int) -> Any:
    return None if values is None else spread(values, batched, size).flatten()


@batch_rule("native_batch_norm")
def native_batch_norm(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    running, training = args[3:5], args[5]
    if training and batched[0] and any(v is not None and not b for v, b in zip(running, batched[3:5], strict=True)):
        raise RuntimeError(
            "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in "
            "place, were not batched.\nIf you are using a module and do not need eval mode, please set "
            "`track_running_stats` to be False.If you are using a prebuilt module and do not need eval mode, please "
            "see the functorch website for resources on how to patch your module to work with vmap"
        )
    channels = [_channels(v, b, size) for v, b in zip(args[1:5], batched[1:5], strict=True)]
    result, mean, invstd = op([_joined(args[0], batched[0], size), *channels, *args[5:]])
    if training:
        for target, moved, is_batched in zip(running, channels[2:], batched[3:5], strict=True):
            if target is not None:  # where flatten had to copy, the op has changed the copy alone
                rows = _rows(moved, size)
                target.copy_(rows if is_batched else rows[0])  # the input is the same for all examples, so are the rows
    return _parted(result, size), _rows(mean, size), _rows(invstd, size)


@batch_rule("native_batch_norm_backward")
def native_batch_norm_backward(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    inputs = [_joined(v, b, size) for v, b in zip(args[:2], batched[:2], strict=True)]
    channels = [_channels(v, b, size) for v, b in zip(args[2:7], batched[2:7], strict=True)]
    grad_input, grad_weight, grad_bias = op([*inputs, *channels, *args[7:]])
    return (
        None if grad_input is None else _parted(grad_input, size),
        None if grad_weight is None else _rows(grad_weight, size),
        None if grad_bias is None else _rows(grad_bias, size),
    )
