"""Averages of parameters on several levels: often among few ranks, seldom among many.

Mirrors: torch/distributed/algorithms/model_averaging/hierarchical_model_averager.py
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

from reftorch._warnings import warn
from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed.algorithms.model_averaging import utils
from reftorch.distributed.algorithms.model_averaging.averagers import ModelAverager

__all__ = ["HierarchicalModelAverager"]


class HierarchicalModelAverager(ModelAverager):
    """Averages the parameters among small groups after few steps, and among larger ones after more.

    Messages between the ranks of one machine are cheap, those between machines are not. So the small groups, for
    example the ranks of a machine or of a rack, average often, and all ranks seldom. A step averages on one level at
    most: the highest one whose period divides the number of the step. Steps count from the first one, also during the
    warm-up.
    Paper: J. Wang et al.: Local averaging helps: hierarchical federated learning, https://arxiv.org/abs/2010.12998

    Args:
        period_group_size_dict: for each level the number of steps from one average to the next, and the number of ranks
            of a group; ordered from few to many. The last groups are all ranks.
        warmup_steps: the number of steps without an average at the beginning.
        process_group: all ranks that take part; the default group if None.

    Attributes:
        period_process_group_dict: the group of this rank for each period.

    Raises:
        ValueError: there is no level, a period is not positive, ``warmup_steps`` is negative, or the last groups are
            not all ranks.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.distributed.algorithms.model_averaging.hierarchical_model_averager import (
        ...     HierarchicalModelAverager,
        ... )
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=4)
        ... def program():
        ...     p = torch.nn.Parameter(torch.full((1,), float(dist.get_rank())))
        ...     p.grad = torch.ones(1)
        ...     averager, seen = HierarchicalModelAverager({2: 2, 4: 4}, warmup_steps=1), []
        ...     for step in range(5):
        ...         averager.average_parameters([p])
        ...         seen.append(p.item())
        ...     return seen
        >>> program()[0]  # two ranks at step 2, all four at step 4
        [0.0, 0.0, 0.5, 0.5, 1.5]

    Mirrors torch/distributed/algorithms/model_averaging/hierarchical_model_averager.py, ``HierarchicalModelAverager``.
    """

    def __init__(
        self, period_group_size_dict: Mapping[int, int] | None = None, warmup_steps: int = 0, process_group: Any = None
    ) -> None:
        super().__init__(process_group)
        if not period_group_size_dict:
            raise ValueError("Arg ``period_group_size_dict`` must not be empty.")
        self._periods = list(period_group_size_dict)
        if self._periods[0] <= 0:
            raise ValueError("The minimum period in arg ``period_group_size_dict`` must be a positive value.")
        if self._periods[-1] == 1:
            warn(
                "The maximum period in arg ``period_group_size_dict`` is 1. To average all parameters after each step "
                "costs no less than to average all gradients: DistributedDataParallel alone does the same."
            )
        size, last = c10d.get_world_size(self.process_group), list(period_group_size_dict.values())[-1]
        if last != size:
            raise ValueError(
                f"The last value in arg ``period_group_size_dict`` {last} must be equal to the size of arg "
                f"``process_group`` {size}."
            )
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        self.warmup_steps = warmup_steps
        self.period_process_group_dict: OrderedDict[int, Any] = OrderedDict()
        for period, group_size in period_group_size_dict.items():
            group = self.process_group
            if group_size != size:
                group, _ = c10d.new_subgroups(group_size=group_size, group=self.process_group)
            self.period_process_group_dict[period] = group

    def _find_process_group(self) -> Any:
        """Return the group of the highest level whose turn it is, or None."""
        for period in reversed(self._periods):
            if self.step % period == 0:
                return self.period_process_group_dict[period]
        return None

    def average_parameters(self, params: Iterable[Any]) -> None:
        """Count one step, and average the parameters with a gradient if it is time to.

        Args:
            params: parameters, or the groups of an optimizer.
        """
        if self.step >= self.warmup_steps:
            group = self._find_process_group()
            if group is not None:
                utils.average_parameters_or_parameter_groups(params, group)
        self.step += 1
