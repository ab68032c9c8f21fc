"""Schedules from a formula of the epoch.

Mirrors: torch/optim/lr_scheduler.py
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import Any

from reftorch.optim.lr_scheduler.scheduler import (
    LRScheduler,
    _enable_get_lr_call,
    _param_groups_val_list,
    _update_param_group_val,
    _warn_get_lr_called_within_step,
)
from reftorch.optim.optimizer import Optimizer

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "ExponentialLR",
    "LinearLR",
    "MultiStepLR",
    "PolynomialLR",
    "StepLR",
]


class StepLR(LRScheduler):
    r"""Multiply the learning rate by :math:`g` every :math:`s` epochs.

    In epoch :math:`t`, the learning rate is :math:`\gamma_t = \gamma_0 g^{\lfloor t/s \rfloor}`.

    Args:
        optimizer: the optimizer.
        step_size: the number :math:`s` of epochs.
        gamma: the factor :math:`g` (default 0.1).
        last_epoch: the number of the last epoch, for a program that resumes (default -1).

    Example:
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1)
        >>> scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2)
        >>> lrs = []
        >>> for _ in range(5):
        ...     lrs += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> [round(lr, 4) for lr in lrs]
        [0.1, 0.1, 0.01, 0.01, 0.001]

    Mirrors torch/optim/lr_scheduler.py, ``StepLR``.
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        _warn_get_lr_called_within_step(self)
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return _param_groups_val_list(self.optimizer, "lr")
        return [group["lr"] * self.gamma for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Any]:
        return [base_lr * self.gamma ** (self.last_epoch // self.step_size) for base_lr in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Multiply the learning rate by ``gamma`` at each of the given epochs.

    Args:
        optimizer: the optimizer.
        milestones: the epochs; an epoch that is given twice multiplies twice.
        gamma: the factor (default 0.1).
        last_epoch: the number of the last epoch, for a program that resumes (default -1).

    Example:
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1)
        >>> scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 3])
        >>> lrs = []
        >>> for _ in range(5):
        ...     lrs += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> [round(lr, 4) for lr in lrs]
        [0.1, 0.01, 0.01, 0.001, 0.001]

    Mirrors torch/optim/lr_scheduler.py, ``MultiStepLR``.
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        _warn_get_lr_called_within_step(self)
        if self.last_epoch not in self.milestones:
            return _param_groups_val_list(self.optimizer, "lr")
        factor = self.gamma ** self.milestones[self.last_epoch]
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Any]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base_lr * self.gamma**passed for base_lr in self.base_lrs]


class ConstantLR(LRScheduler):
    """Multiply the learning rate by ``factor`` until epoch ``total_iters``, and divide by ``factor`` then.

    Args:
        optimizer: the optimizer.
        factor: the factor, from 0 to 1 (default 1/3).
        total_iters: the epoch at which the learning rate returns (default 5).
        last_epoch: the number of the last epoch, for a program that resumes (default -1).

    Raises:
        ValueError: ``factor`` is not between 0 and 1.

    Example:
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1)
        >>> scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
        >>> lrs = []
        >>> for _ in range(4):
        ...     lrs += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> [round(lr, 4) for lr in lrs]
        [0.05, 0.05, 0.1, 0.1]

    Mirrors torch/optim/lr_scheduler.py, ``ConstantLR``.
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        _warn_get_lr_called_within_step(self)
        if self.last_epoch == 0:
            return [group["lr"] * self.factor for group in self.optimizer.param_groups]
        if self.last_epoch != self.total_iters:
            return _param_groups_val_list(self.optimizer, "lr")
        return [group["lr"] * (1.0 / self.factor) for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Any]:
        factor = self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)
        return [base_lr * factor for base_lr in self.base_lrs]


class LinearLR(LRScheduler):
    r"""Let a factor of the learning rate go in a straight line from ``start_factor`` to ``end_factor``.

    With the factors :math:`a, b` and :math:`n` epochs, :math:`\gamma_t = \gamma_0 (a + (b - a) \min(t, n) / n)`.

    Args:
        optimizer: the optimizer.
        start_factor: :math:`a`, larger than 0 and at most 1 (default 1/3).
        end_factor: :math:`b`, from 0 to 1 (default 1.0).
        total_iters: :math:`n` (default 5).
        last_epoch: the number of the last epoch, for a program that resumes (default -1).

    Raises:
        ValueError: a factor is out of its range.

    Example:
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1)
        >>> scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
        >>> lrs = []
        >>> for _ in range(4):
        ...     lrs += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> [round(lr, 4) for lr in lrs]
        [0.05, 0.075, 0.1, 0.1]

    Mirrors torch/optim/lr_scheduler.py, ``LinearLR``.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        _warn_get_lr_called_within_step(self)
        if self.last_epoch == 0:
            return [group["lr"] * self.start_factor for group in self.optimizer.param_groups]
        if self._is_initial or self.last_epoch > self.total_iters:
            return _param_groups_val_list(self.optimizer, "lr")
        # The factor of this epoch, divided by the factor of the epoch before.
        change = self.end_factor - self.start_factor
        ratio = 1.0 + change / (self.total_iters * self.start_factor + (self.last_epoch - 1) * change)
        return [group["lr"] * ratio for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Any]:
        change = self.end_factor - self.start_factor
        factor = self.start_factor + change * min(self.total_iters, self.last_epoch) / self.total_iters
        return [base_lr * factor for base_lr in self.base_lrs]


class ExponentialLR(LRScheduler):
    r"""Multiply the learning rate by :math:`g` every epoch: :math:`\gamma_t = \gamma_0 g^t`.

    Args:
        optimizer: the optimizer.
        gamma: the factor :math:`g`.
        last_epoch: the number of the last epoch, for a program that resumes (default -1).

    Example:
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1)
        >>> scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.05]

    Mirrors torch/optim/lr_scheduler.py, ``ExponentialLR``.
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        _warn_get_lr_called_within_step(self)
        if self._is_initial:
            return _param_groups_val_list(self.optimizer, "lr")
        return [group["lr"] * self.gamma for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Any]:
        return [base_lr * self.gamma**self.last_epoch for base_lr in self.base_lrs]


class PolynomialLR(LRScheduler):
    r"""Let the learning rate go to 0 in :math:`n` epochs: :math:`\gamma_t = \gamma_0 (1 - \min(t, n) / n)^p`.

    Args:
        optimizer: the optimizer.
        total_iters: :math:`n` (default 5).
        power: :math:`p` (default 1.0).
        last_epoch: the number of the last epoch, for a program that resumes (default -1).

    Example:
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1)
        >>> scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=2)
        >>> lrs = []
        >>> for _ in range(4):
        ...     lrs += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> [round(lr, 4) for lr in lrs]
        [0.1, 0.05, 0.0, 0.0]

    Mirrors torch/optim/lr_scheduler.py, ``PolynomialLR``.
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        _warn_get_lr_called_within_step(self)
        if self._is_initial or self.last_epoch > self.total_iters:
            return _param_groups_val_list(self.optimizer, "lr")
        # The factor of this epoch, divided by the factor of the epoch before.
        now, before = 1.0 - self.last_epoch / self.total_iters, 1.0 - (self.last_epoch - 1) / self.total_iters
        ratio = (now / before) ** self.power
        return [group["lr"] * ratio for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Any]:
        factor = (1.0 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power
        return [base_lr * factor for base_lr in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    r"""Let the learning rate follow half a wave of the cosine, down to :math:`\gamma_\text{min}` at epoch :math:`T`.

    .. math::
        \gamma_t = \gamma_\text{min} + \tfrac12 (\gamma_0 - \gamma_\text{min}) (1 + \cos(\pi t / T))

    After :math:`T` epochs, the learning rate goes up again.

    Args:
        optimizer: the optimizer.
        T_max: :math:`T`.
        eta_min: :math:`\gamma_\text{min}` (default 0.0).
        last_epoch: the number of the last epoch, for a program that resumes (default -1).

    Example:
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1)
        >>> scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
        >>> lrs = []
        >>> for _ in range(5):
        ...     lrs += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> [round(lr, 4) for lr in lrs]
        [0.1, 0.0854, 0.05, 0.0146, 0.0]

    Mirrors torch/optim/lr_scheduler.py, ``CosineAnnealingLR``.
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        _warn_get_lr_called_within_step(self)
        groups = self.optimizer.param_groups
        if self._is_initial:
            return _param_groups_val_list(self.optimizer, "lr")
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            # The epoch before had the smallest learning rate, so the ratio below would divide by 0.
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [
                group["lr"] + (base_lr - self.eta_min) * rise
                for base_lr, group in zip(self.base_lrs, groups, strict=True)
            ]
        now = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        before = 1 + math.cos(math.pi * (self.last_epoch - 1) / self.T_max)
        return [now / before * (group["lr"] - self.eta_min) + self.eta_min for group in groups]

    def _get_closed_form_lr(self) -> list[Any]:
        return [
            self.eta_min + (base_lr - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
            for base_lr in self.base_lrs
        ]


class CosineAnnealingWarmRestarts(LRScheduler):
    r"""Let the learning rate follow half a wave of the cosine again and again, each time from the start.

    .. math::
        \gamma_t = \gamma_\text{min} + \tfrac12 (\gamma_0 - \gamma_\text{min}) (1 + \cos(\pi T_\text{cur} / T_i))

    :math:`T_\text{cur}` is the number of epochs since the last restart, and :math:`T_i` the number of epochs between
    two restarts.

    Args:
        optimizer: the optimizer.
        T_0: the number of epochs until the first restart.
        T_mult: the factor by which :math:`T_i` grows with each restart (default 1).
        eta_min: :math:`\gamma_\text{min}` (default 0.0).
        last_epoch: the number of the last epoch, for a program that resumes (default -1).

    Raises:
        ValueError: ``T_0`` or ``T_mult`` is not a positive integer, or ``eta_min`` is not a number.

    Example:
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1)
        >>> scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2, T_mult=2)
        >>> lrs = []
        >>> for _ in range(7):
        ...     lrs += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> [round(lr, 4) for lr in lrs]
        [0.1, 0.05, 0.1, 0.0854, 0.05, 0.0146, 0.1]

    Mirrors torch/optim/lr_scheduler.py, ``CosineAnnealingWarmRestarts``.
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, float | int):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i: float = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        _warn_get_lr_called_within_step(self)
        return [
            self.eta_min + (base_lr - self.eta_min) * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
            for base_lr in self.base_lrs
        ]

    def step(self, epoch: float | None = None) -> None:
        """Set the learning rates of the next epoch, or of a part of an epoch.

        Args:
            epoch: the number of the epoch, which need not be an integer: ``epoch + i / number_of_batches`` lets the
                learning rate go down smoothly within the epoch.

        Raises:
            ValueError: the epoch is negative.

        Mirrors torch/optim/lr_scheduler.py, ``CosineAnnealingWarmRestarts.step``.
        """
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            if epoch < self.T_0:
                self.T_i, self.T_cur = self.T_0, epoch
            elif self.T_mult == 1:
                self.T_cur = epoch % self.T_0
            else:
                # After n restarts, T_0 (1 + T_mult + ... + T_mult^(n-1)) epochs have passed.
                n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
                self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
                self.T_i = self.T_0 * self.T_mult**n
        self.last_epoch = math.floor(epoch)

        with _enable_get_lr_call(self):
            values = self.get_lr()
        for group, lr in zip(self.optimizer.param_groups, values, strict=True):
            _update_param_group_val(group, "lr", lr)
        self._last_lr = _param_groups_val_list(self.optimizer, "lr")
