r"""Quantization: gradients travel as bytes.

Mirrors: torch/distributed/algorithms/ddp_comm_hooks/quantization_hooks.py
Leaves out: overlap of the collectives with backward.

Note [Quantized gradients]
Problem: a gradient of float32 has four bytes, and most of them say little. Trick: all numbers of a tensor become one of
256 steps between the smallest number and the largest one: :math:`q = round(x / s) + z`, with the step :math:`s` and the
byte :math:`z` that stands for zero. Sums of such bytes mean nothing, because each rank has its own :math:`s` and
:math:`z`. So nothing is added on the way: all ranks gather the bytes of all ranks, and add them up after they have
restored the numbers. Limits: what rounding loses is lost, and to gather costs more than an all-reduce if there are many
ranks: it sends the bytes of each rank to all others. One large number makes the steps of its tensor coarse;
:func:`quantization_perchannel_hook` has a step of its own for each 512 numbers.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C, _VF
from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed._grad_bucket import GradBucket
from reftorch.futures import Future

__all__ = ["quantization_perchannel_hook", "quantization_pertensor_hook"]

_LAST = 255  # the largest byte
_EPSILON = 2.0**-23  # of float32


def _steps_of(rows: Any) -> tuple[Any, Any]:
    """Return the step of each row and the byte that stands for zero, as columns. Zero is always one of the steps."""
    low = rows.amin(1, keepdim=True).clamp(max=0)
    high = rows.amax(1, keepdim=True).clamp(min=0)
    step = ((high - low) / _LAST).clamp(min=_EPSILON)
    return step, (-(low / step).round()).clamp(0, _LAST)


def _average(rows: Any, group: Any) -> Any:
    """Return the average of a matrix over all ranks; each row has its own steps. See Note [Quantized gradients]."""
    group = c10d._group_or_default_group(group)
    step, zero = _steps_of(rows)
    steps = _VF.stack([step, zero])
    gathered_steps = [_VF.empty_like(steps) for _ in range(group.size())]
    c10d.all_gather(gathered_steps, steps, group=group)
    quantized = ((rows / step).round() + zero).clamp(0, _LAST).to(_C.uint8)
    gathered = [_VF.empty_like(quantized) for _ in range(group.size())]
    c10d.all_gather(gathered, quantized, group=group)
    total = _VF.zeros_like(rows)
    for (step, zero), theirs in zip(gathered_steps, gathered, strict=True):
        total += step * (theirs.to(rows.dtype) - zero)
    return total / group.size()


def _ended(result: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(result)
    return future


def quantization_pertensor_hook(process_group: Any, bucket: GradBucket) -> Future[Any]:
    """Average the gradients of a bucket as bytes; all of them have one step. See Note [Quantized gradients].

    Args:
        process_group: the group, or None for the default group.
        bucket: the gradients.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/quantization_hooks.py, the function of this name.
    """
    return _ended(_average(bucket.buffer().float().reshape(1, -1), process_group).reshape(-1))


def quantization_perchannel_hook(process_group: Any, bucket: GradBucket, bucket_size: int = 512) -> Future[Any]:
    """Average the gradients of a bucket as bytes; each part of it has its own step. See Note [Quantized gradients].

    Args:
        process_group: the group, or None for the default group.
        bucket: the gradients.
        bucket_size: the numbers of a part. Zeros fill the last one.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/quantization_hooks.py, the function of this name.
    """
    flat = bucket.buffer().float()
    count = flat.numel()
    padded = _VF.cat([flat, flat.new_zeros(-count % bucket_size)])
    return _ended(_average(padded.view(-1, bucket_size), process_group).reshape(-1)[:count])
