"""Hooks that average the gradients: in their own dtype, or in 16 bits.

Mirrors: torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed._grad_bucket import GradBucket
from reftorch.futures import Future

__all__ = [
    "allreduce_hook",
    "bf16_compress_hook",
    "bf16_compress_wrapper",
    "fp16_compress_hook",
    "fp16_compress_wrapper",
]

Hook = Callable[[Any, GradBucket], Future[Any]]


def _average(process_group: Any, tensor: Any) -> Future[Any]:
    """Return the future of the average over all ranks, which is written to ``tensor``."""
    tensor.div_(c10d.get_world_size(process_group))
    work: Any = c10d.all_reduce(tensor, group=process_group, async_op=True)
    return work.get_future().then(lambda done: tensor if done.value() is None else done.value()[0])


def allreduce_hook(process_group: Any, bucket: GradBucket) -> Future[Any]:
    """Average the gradients, as DistributedDataParallel does without a hook.

    Args:
        process_group: the group; None means the default group.
        bucket: the gradients.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py, ``allreduce_hook``.
    """
    return _average(process_group, bucket.buffer())


def _compress(dtype: Any, process_group: Any, bucket: GradBucket) -> Future[Any]:
    buffer = bucket.buffer()
    return _average(process_group, buffer.to(dtype)).then(lambda done: buffer.copy_(done.value()))


def fp16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Any]:
    """Average the gradients in float16, which halves the bytes that travel.

    Numbers keep 11 bits, and a sum above 65504 becomes infinite.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py, ``fp16_compress_hook``.
    """
    return _compress(_C.float16, process_group, bucket)


def bf16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Any]:
    """Average the gradients in bfloat16, which halves the bytes that travel.

    Numbers keep 8 bits and the range of float32. PyTorch refuses this hook where there is no NCCL.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py, ``bf16_compress_hook``.
    """
    return _compress(_C.bfloat16, process_group, bucket)


def _wrap(dtype: Any, hook: Hook) -> Hook:
    def compressed(hook_state: Any, bucket: GradBucket) -> Future[Any]:
        full = bucket.buffer()
        bucket.set_buffer(full.to(dtype))
        return hook(hook_state, bucket).then(lambda done: full.copy_(done.value()))

    return compressed


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """Return a hook that hands the gradients to another hook in float16.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py, ``fp16_compress_wrapper``.
    """
    return _wrap(_C.float16, hook)


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """Return a hook that hands the gradients to another hook in bfloat16.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py, ``bf16_compress_wrapper``.
    """
    return _wrap(_C.bfloat16, hook)
