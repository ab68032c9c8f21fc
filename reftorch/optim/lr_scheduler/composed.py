"""Schedules made of schedules: one after the other, or all at once.

Mirrors: torch/optim/lr_scheduler.py
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from reftorch.optim.lr_scheduler.plateau import ReduceLROnPlateau
from reftorch.optim.lr_scheduler.scheduler import (
    LRScheduler,
    _param_groups_val_list,
    _update_param_group_val,
)
from reftorch.optim.optimizer import Optimizer

__all__ = ["ChainedScheduler", "SequentialLR"]


def _check_schedulers(owner: LRScheduler, optimizer: Optimizer, schedulers: Sequence[LRScheduler]) -> None:
    """Refuse what cannot be a part of ``owner``: it must step without arguments, on the same optimizer."""
    name = type(owner).__name__
    for scheduler_idx, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{name} at index {scheduler_idx} should have `optimizer` as its attribute.")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(
                f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                f"specified when calling `step`, but got one at index {scheduler_idx} in the given schedulers sequence."
            )
        if optimizer != scheduler.optimizer:
            raise ValueError(
                f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                f"{type(scheduler).__name__} at index {scheduler_idx} has {scheduler.optimizer}, which is different "
                f"from {type(optimizer).__name__}."
            )


def _state_dict_with_schedulers(scheduler: Any) -> dict[str, Any]:
    state_dict = {key: value for key, value in scheduler.__dict__.items() if key not in ("optimizer", "_schedulers")}
    state_dict["_schedulers"] = [part.state_dict() for part in scheduler._schedulers]
    return state_dict


def _load_state_dict_with_schedulers(scheduler: Any, state_dict: dict[str, Any]) -> None:
    scheduler.__dict__.update({key: value for key, value in state_dict.items() if key != "_schedulers"})
    for part, part_state in zip(scheduler._schedulers, state_dict["_schedulers"], strict=False):
        part.load_state_dict(part_state)


class SequentialLR(LRScheduler):
    """One schedule after the other: each begins at its milestone, with its own epoch 0.

    Args:
        optimizer: the optimizer.
        schedulers: the schedules.
        milestones: the epochs at which the second, third, ... schedule begins.
        last_epoch: the number of the last epoch, for a program that resumes (default -1).

    Raises:
        ValueError: there are no schedules, they belong to several optimizers, or the number of milestones is not one
            less than the number of schedules.
        TypeError: one of the schedules has no optimizer.

    Example:
        >>> from reftorch.optim import lr_scheduler
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1)
        >>> warm_up = lr_scheduler.ConstantLR(optimizer, factor=0.1, total_iters=20)
        >>> decay = lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> scheduler = lr_scheduler.SequentialLR(optimizer, [warm_up, decay], milestones=[2])
        >>> lrs = []
        >>> for _ in range(5):
        ...     lrs += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> [round(lr, 4) for lr in lrs]
        [0.01, 0.01, 0.1, 0.05, 0.025]

    Mirrors torch/optim/lr_scheduler.py, ``SequentialLR``.
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler, but got no scheduler.")
        _check_schedulers(self, optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer

        # The construction of each schedule has made its first step. All of them are undone, and then the first
        # schedule alone makes its first step.
        for group in optimizer.param_groups:
            _update_param_group_val(group, "lr", group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Undo the first step of each schedule, those within schedules included.

        Mirrors torch/optim/lr_scheduler.py, ``SequentialLR.recursive_undo``.
        """
        scheds = self if sched is None else sched
        if hasattr(scheds, "_schedulers"):
            for part in scheds._schedulers:
                self.recursive_undo(part)
        elif hasattr(scheds, "last_epoch"):
            scheds.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]
        """Set the learning rates of the next epoch, by the schedule of this epoch.

        Mirrors torch/optim/lr_scheduler.py, ``SequentialLR.step``.
        """
        self.last_epoch += 1
        idx = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[idx]
        if idx > 0 and self._milestones[idx - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes but the optimizer as a dict; the schedules are dicts of their own.

        Mirrors torch/optim/lr_scheduler.py, ``SequentialLR.state_dict``.
        """
        return _state_dict_with_schedulers(self)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the attributes from a dict that :meth:`state_dict` returned.

        Mirrors torch/optim/lr_scheduler.py, ``SequentialLR.load_state_dict``.
        """
        _load_state_dict_with_schedulers(self, state_dict)


class ChainedScheduler(LRScheduler):
    """Several schedules at once: each step is a step of all of them, one after the other.

    Args:
        schedulers: the schedules, whose effects multiply.
        optimizer: the optimizer; that of the first schedule by default.

    Raises:
        ValueError: there are no schedules, or they belong to several optimizers.
        TypeError: one of the schedules has no optimizer.

    Example:
        >>> from reftorch.optim import lr_scheduler
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1)
        >>> constant = lr_scheduler.ConstantLR(optimizer, factor=0.1, total_iters=2)
        >>> decay = lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> scheduler = lr_scheduler.ChainedScheduler([constant, decay])
        >>> lrs = []
        >>> for _ in range(4):
        ...     lrs += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> [round(lr, 4) for lr in lrs]
        [0.01, 0.005, 0.025, 0.0125]

    Mirrors torch/optim/lr_scheduler.py, ``ChainedScheduler``.
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, but got no scheduler."
            )
        optimizer = optimizer or schedulers[0].optimizer
        _check_schedulers(self, optimizer, schedulers)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = _param_groups_val_list(self._schedulers[-1].optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Make a step of each schedule.

        Mirrors torch/optim/lr_scheduler.py, ``ChainedScheduler.step``.
        """
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = _param_groups_val_list(self._schedulers[-1].optimizer, "lr")

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes but the optimizer as a dict; the schedules are dicts of their own.

        Mirrors torch/optim/lr_scheduler.py, ``ChainedScheduler.state_dict``.
        """
        return _state_dict_with_schedulers(self)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the attributes from a dict that :meth:`state_dict` returned.

        Mirrors torch/optim/lr_scheduler.py, ``ChainedScheduler.load_state_dict``.
        """
        _load_state_dict_with_schedulers(self, state_dict)
