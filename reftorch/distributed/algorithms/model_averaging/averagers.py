"""When the parameters of the ranks are averaged.

Mirrors: torch/distributed/algorithms/model_averaging/averagers.py
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from reftorch._warnings import warn
from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed.algorithms.model_averaging import utils

__all__ = ["ModelAverager", "PeriodicModelAverager"]


class ModelAverager(ABC):
    """The base of the averagers: it counts the steps.

    Args:
        process_group: the ranks; the default group if None.

    Attributes:
        step: the number of calls so far.

    Raises:
        ValueError: there is no process group.

    Mirrors torch/distributed/algorithms/model_averaging/averagers.py, ``ModelAverager``.
    """

    def __init__(self, process_group: Any = None) -> None:
        self.process_group = c10d._get_default_group() if process_group is None else process_group
        self.step = 0

    @abstractmethod
    def average_parameters(self, params: Iterable[Any]) -> None:
        """Count one step, and average the parameters if it is time to."""


class PeriodicModelAverager(ModelAverager):
    """Averages the parameters after every ``period`` steps, once the first steps are over.

    With DistributedDataParallel in these first steps and none afterwards, this is post-local SGD: the ranks train
    on their own, and messages are rare. See ``ddp_comm_hooks.post_localSGD_hook``.
    Paper: T. Lin et al.: Don't use large mini-batches, use local SGD, https://arxiv.org/abs/1808.07217

    Args:
        period: the number of steps from one average to the next.
        warmup_steps: the number of steps without an average at the beginning.
        process_group: the ranks; the default group if None.

    Raises:
        ValueError: ``period`` is not positive, or ``warmup_steps`` is negative.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     p = torch.nn.Parameter(torch.zeros(1))
        ...     p.grad = torch.ones(1)
        ...     averager, seen = PeriodicModelAverager(period=2, warmup_steps=1), []
        ...     for step in range(4):
        ...         p.data += dist.get_rank()
        ...         averager.average_parameters([p])
        ...         seen.append(p.item())
        ...     return seen
        >>> program()  # averages at steps 1 and 3
        [[0.0, 1.0, 1.0, 2.0], [1.0, 1.0, 2.0, 2.0]]

    Mirrors torch/distributed/algorithms/model_averaging/averagers.py, ``PeriodicModelAverager``.
    """

    def __init__(self, period: int, warmup_steps: int = 0, process_group: Any = None) -> None:
        super().__init__(process_group)
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        if period < 1:
            raise ValueError("Arg ``period`` must be a positive value.")
        if period == 1:
            warn(
                "When period is 1, no need to use model averaging because the communication cost of all-reducing "
                "parameters will be no less than the cost of all-reducing gradients by DistributedDataParallel in the "
                "backward pass. Therefore, only DistributedDataParallel should be used for this case."
            )
        self.period, self.warmup_steps = period, warmup_steps

    def average_parameters(self, params: Iterable[Any]) -> None:
        """Count one step, and average the parameters with a gradient if it is time to.

        Args:
            params: parameters, or the groups of an optimizer.
        """
        since = self.step - self.warmup_steps
        if since >= 0 and since % self.period == 0:
            utils.average_parameters_or_parameter_groups(params, self.process_group)
        self.step += 1
