"""The hook that sums the gradients of mixed precision in a dtype of their own.

Mirrors: torch/distributed/algorithms/ddp_comm_hooks/mixed_precision_hooks.py
Leaves out: side streams. The parameters get their own dtype back in ``nn/parallel/distributed.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reftorch.distributed._grad_bucket import GradBucket
from reftorch.futures import Future

__all__: list[str] = []


@dataclass
class _AllreduceUpcastHookState:
    """A weak reference to the DistributedDataParallel module, which owns the hook.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/mixed_precision_hooks.py, ``_AllreduceUpcastHookState``.
    """

    ddp_weakref: Any


def _reducer_allreduce_and_upcast_hook(hook_state: _AllreduceUpcastHookState, bucket: GradBucket) -> Future[Any]:
    """Average the gradients in ``reduce_dtype``. The Reducer then copies them to gradients of the parameters' dtype.

    Args:
        hook_state: leads to the module and its dtypes. See Note [Mixed precision].
        bucket: the gradients, in ``param_dtype``.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/mixed_precision_hooks.py, the function of this name.
    """
    ddp = hook_state.ddp_weakref()
    if ddp.mixed_precision.reduce_dtype is not None:
        bucket.set_buffer(bucket.buffer().to(ddp.mixed_precision.reduce_dtype))
    size = ddp.process_group.size()

    def average(done: Future[Any]) -> Any:
        done.value()  # raises the error of an all-reduce that has failed
        return bucket.buffer().div_(size)

    return ddp.reducer._run_allreduce_hook(bucket).then(average)
