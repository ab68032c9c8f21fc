"""Averages gradients over all ranks at first, and later over the ranks of a small group only, or not at all.

Mirrors: torch/distributed/algorithms/ddp_comm_hooks/post_localSGD_hook.py
"""

from __future__ import annotations

from typing import Any

from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed._grad_bucket import GradBucket
from reftorch.distributed.algorithms.ddp_comm_hooks import default_hooks
from reftorch.distributed.algorithms.ddp_comm_hooks.debugging_hooks import noop_hook
from reftorch.futures import Future

__all__ = ["PostLocalSGDState", "post_localSGD_hook"]


class PostLocalSGDState:
    """The settings of :func:`post_localSGD_hook`, and its count of steps.

    Args:
        process_group: the ranks of the first steps; the default group if None.
        subgroup: the ranks of the later steps; the ranks of one machine if None.
        start_localSGD_iter: the number of first steps.
        post_local_gradient_allreduce: whether the later steps average gradients in the subgroup.

    Attributes:
        iter: the number of steps so far, while it is less than ``start_localSGD_iter``.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/post_localSGD_hook.py, ``PostLocalSGDState``.
    """

    def __init__(
        self,
        process_group: Any,
        subgroup: Any,
        start_localSGD_iter: int,
        post_local_gradient_allreduce: bool = True,
    ) -> None:
        self.process_group, self.subgroup = process_group, subgroup
        self.start_localSGD_iter = start_localSGD_iter
        self.post_local_gradient_allreduce = post_local_gradient_allreduce
        self.iter = 0

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Count a step with its last bucket."""
        if bucket.is_last():
            self.iter += 1


def post_localSGD_hook(state: PostLocalSGDState, bucket: GradBucket) -> Future[Any]:
    """Average the gradients: a communication hook of DistributedDataParallel.

    In the later steps the models of the groups drift apart, so an averager has to average their parameters now and
    then: see ``PeriodicModelAverager`` and ``PostLocalSGDOptimizer``.

    Args:
        state: the settings.
        bucket: the gradients.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/post_localSGD_hook.py, ``post_localSGD_hook``.
    """
    if state.iter < state.start_localSGD_iter:
        state.maybe_increase_iter(bucket)
        return default_hooks.allreduce_hook(state.process_group, bucket)
    if not state.post_local_gradient_allreduce:
        return noop_hook(None, bucket)
    if state.subgroup is None:
        state.subgroup, _ = c10d.new_subgroups()
    return default_hooks.allreduce_hook(state.subgroup, bucket)
