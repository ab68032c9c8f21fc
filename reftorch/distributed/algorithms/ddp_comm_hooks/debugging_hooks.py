"""A hook that does not communicate, to measure what communication costs.

Mirrors: torch/distributed/algorithms/ddp_comm_hooks/debugging_hooks.py
"""

from __future__ import annotations

from typing import Any

from reftorch.distributed._grad_bucket import GradBucket
from reftorch.futures import Future

__all__ = ["noop_hook"]


def noop_hook(_: Any, bucket: GradBucket) -> Future[Any]:
    """Return the gradients of this rank as they are. The ranks then train different models.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/debugging_hooks.py, ``noop_hook``.
    """
    future: Future[Any] = Future()
    future.set_result(bucket.buffer())
    return future
