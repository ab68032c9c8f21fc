"""Batching rules of moves of elements between channels and pixels.

Mirrors: aten/src/ATen/functorch/BatchRulesModules.cpp (pixel_shuffle, channel_shuffle)
"""

from __future__ import annotations

from typing import Any

from reftorch._functorch.batch_rules._common import Op, batch_rule


@batch_rule("pixel_shuffle pixel_unshuffle")
def pixel_shuffle(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    """The ops take any number of dimensions in front, so that the batch may be one of them."""
    if args[0].dim() < 4:  # the batch dimension would count as the third
        raise RuntimeError(
            f"{op.name} expects input to have at least 3 dimensions, but got input with {args[0].dim() - 1} "
            "dimension(s)"
        )
    return op(args)


@batch_rule("channel_shuffle native_channel_shuffle")
def channel_shuffle(op: Op, args: list[Any], batched: list[Any], size: int) -> Any:
    """The batch joins the first dimension."""
    input, groups = args
    return op([input.flatten(0, 1), groups]).unflatten(0, (size, input.shape[1]))
