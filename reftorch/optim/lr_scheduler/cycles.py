"""Schedules for every batch, of the learning rate and of the momentum.

Mirrors: torch/optim/lr_scheduler.py
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from functools import partial
from typing import Any

from reftorch.optim.lr_scheduler.scheduler import (
    LRScheduler,
    _check_optimizer,
    _format_param,
    _update_param_group_val,
    _warn_get_lr_called_within_step,
)
from reftorch.optim.optimizer import Optimizer

__all__ = ["CyclicLR", "OneCycleLR"]


def _set_momentum(scheduler: Any, group: dict[str, Any], momentum: float) -> None:
    """Set the momentum of a group, which is the first beta of an optimizer with betas."""
    if scheduler.use_beta1:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


def _check_momentum(optimizer: Optimizer) -> None:
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")


class CyclicLR(LRScheduler):
    r"""Let the learning rate go up and down between two bounds, in straight lines, once a cycle.

    A cycle has ``step_size_up + step_size_down`` calls of ``step``, one after each batch. With the height :math:`h`,
    which goes from 0 to 1 and back in a cycle,

    .. math::
        \gamma = \gamma_\text{base} + (\gamma_\text{max} - \gamma_\text{base})\, h\, f(x)

    The momentum goes the other way, from its maximum to its base and back.

    Args:
        optimizer: the optimizer.
        base_lr: the lower bound, or a list with one for each group.
        max_lr: the upper bound, or a list with one for each group.
        step_size_up: the number of batches from the lower to the upper bound (default 2000).
        step_size_down: the number of batches down; ``step_size_up`` by default.
        mode: :math:`f(x)` is 1 for ``"triangular"`` (the default), :math:`2^{-(x - 1)}` with the number :math:`x` of
            the cycle for ``"triangular2"``, and :math:`g^x` with the number :math:`x` of batches for ``"exp_range"``.
        gamma: the number :math:`g` (default 1.0).
        scale_fn: the function :math:`f`, in place of a mode.
        scale_mode: whether ``"cycle"`` or ``"iterations"`` are the argument of ``scale_fn`` (default ``"cycle"``).
        cycle_momentum: whether the momentum changes too (default True).
        base_momentum: the lower bound of the momentum, or a list with one for each group (default 0.8).
        max_momentum: the upper bound of the momentum, or a list with one for each group (default 0.9).
        last_epoch: the number of the last batch, for a program that resumes (default -1).

    Raises:
        ValueError: the mode is unknown, a list has the wrong length, or the optimizer has no momentum.
        TypeError: ``optimizer`` is not an optimizer.

    Example:
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1, momentum=0.9)
        >>> scheduler = torch.optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.1, max_lr=0.3, step_size_up=2)
        >>> lrs = []
        >>> for _ in range(5):
        ...     lrs += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> [round(lr, 4) for lr in lrs]
        [0.1, 0.2, 0.3, 0.2, 0.1]

    Mirrors torch/optim/lr_scheduler.py, ``CyclicLR``.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = _format_param("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                _update_param_group_val(group, "lr", lr)
        self.max_lrs = _format_param("max_lr", optimizer, max_lr)

        up = float(step_size_up)
        down = float(step_size_down) if step_size_down is not None else up
        self.total_size = up + down
        self.step_ratio = up / self.total_size

        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        self._init_scale_fn()

        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            _check_momentum(optimizer)
            self.use_beta1 = "betas" in optimizer.defaults
            self.base_momentums = _format_param("base_momentum", optimizer, base_momentum)
            self.max_momentums = _format_param("max_momentum", optimizer, max_momentum)
            if last_epoch == -1:
                for largest, base, group in zip(
                    self.max_momentums, self.base_momentums, optimizer.param_groups, strict=True
                ):
                    _set_momentum(self, group, largest)
                    group["max_momentum"] = largest
                    group["base_momentum"] = base

        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self) -> None:
        if self._scale_fn_custom is not None:
            return
        self._scale_fn_ref: Callable[[float], float]
        if self.mode == "triangular":
            self._scale_fn_ref = self._triangular_scale_fn
            self.scale_mode = "cycle"
        elif self.mode == "triangular2":
            self._scale_fn_ref = self._triangular2_scale_fn
            self.scale_mode = "cycle"
        elif self.mode == "exp_range":
            self._scale_fn_ref = partial(self._exp_range_scale_fn, self.gamma)
            self.scale_mode = "iterations"

    def scale_fn(self, x: float) -> float:
        """Return the factor of the height, :math:`f(x)`.

        Mirrors torch/optim/lr_scheduler.py, ``CyclicLR.scale_fn``.
        """
        return self._scale_fn_ref(x) if self._scale_fn_custom is None else self._scale_fn_custom(x)

    @staticmethod
    def _triangular_scale_fn(x: float) -> float:
        return 1.0

    @staticmethod
    def _triangular2_scale_fn(x: float) -> float:
        return 1 / (2.0 ** (x - 1))

    @staticmethod
    def _exp_range_scale_fn(gamma: float, x: float) -> float:
        return gamma**x

    def get_lr(self) -> list[Any]:
        """Compute the learning rates for ``self.last_epoch``, and set the momentum of the groups.

        Mirrors torch/optim/lr_scheduler.py, ``CyclicLR.get_lr``.
        """
        _warn_get_lr_called_within_step(self)
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle  # the part of the cycle that has passed
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        argument = cycle if self.scale_mode == "cycle" else self.last_epoch

        lrs = []
        for base_lr, max_lr in zip(self.base_lrs, self.max_lrs, strict=True):
            lrs.append(base_lr + (max_lr - base_lr) * height * self.scale_fn(argument))
        if self.cycle_momentum:
            for base, largest, group in zip(
                self.base_momentums, self.max_momentums, self.optimizer.param_groups, strict=True
            ):
                _set_momentum(self, group, largest - (largest - base) * height * self.scale_fn(argument))
        return lrs

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes but the optimizer and functions; of a callable object, its attributes are kept.

        Mirrors torch/optim/lr_scheduler.py, ``CyclicLR.state_dict``.
        """
        state = super().state_dict()
        state.pop("_scale_fn_ref", None)
        fn = state.pop("_scale_fn_custom")
        state["_scale_fn_custom"] = None
        if fn is not None and not isinstance(fn, types.FunctionType):
            state["_scale_fn_custom"] = fn.__dict__.copy()
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the attributes from a dict that :meth:`state_dict` returned; a function stays as it is.

        Mirrors torch/optim/lr_scheduler.py, ``CyclicLR.load_state_dict``.
        """
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_scale_fn_custom"})
        if state_dict["_scale_fn_custom"] is not None:
            self._scale_fn_custom.__dict__.update(state_dict["_scale_fn_custom"])
        self._init_scale_fn()


class OneCycleLR(LRScheduler):
    """One cycle for the whole training: the learning rate goes up, then down to far below where it began.

    A program calls ``step`` after each batch. The momentum goes the other way. Between the values below, both follow
    half a wave of the cosine, or a straight line.

    ================  ====================================  =================
    part of training  learning rate                         momentum
    ================  ====================================  =================
    0                 ``max_lr / div_factor``               ``max_momentum``
    ``pct_start``     ``max_lr``                            ``base_momentum``
    1                 the first one / ``final_div_factor``  ``max_momentum``
    ================  ====================================  =================

    With ``three_phase``, the learning rate first goes back to the initial one, as fast as it went up.

    Args:
        optimizer: the optimizer.
        max_lr: the largest learning rate, or a list with one for each group.
        total_steps: the number of batches in the training; ``epochs * steps_per_epoch`` by default.
        epochs: the number of epochs.
        steps_per_epoch: the number of batches in an epoch.
        pct_start: the part of the training in which the learning rate goes up (default 0.3).
        anneal_strategy: ``"cos"`` or ``"linear"`` (default ``"cos"``).
        cycle_momentum: whether the momentum changes too (default True).
        base_momentum: the smallest momentum, or a list with one for each group (default 0.85).
        max_momentum: the largest momentum, or a list with one for each group (default 0.95).
        div_factor: ``max_lr`` divided by the first learning rate (default 25.0).
        final_div_factor: the first learning rate divided by the last one (default 1e4).
        three_phase: see above (default False).
        last_epoch: the number of the last batch, for a program that resumes (default -1).

    Raises:
        ValueError: an option is out of its range, the number of batches is not given, or a step too many is made.
        TypeError: ``optimizer`` is not an optimizer.

    Example:
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1, momentum=0.9)
        >>> scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=5, pct_start=0.4)
        >>> lrs = []
        >>> for number in range(5):
        ...     lrs += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> [round(lr, 4) for lr in lrs]
        [0.04, 1.0, 0.75, 0.25, 0.0]

    Mirrors torch/optim/lr_scheduler.py, ``OneCycleLR``.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        if total_steps is not None:
            if total_steps <= 0 or not isinstance(total_steps, int):
                raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
            self.total_steps = total_steps
        elif epochs is not None and steps_per_epoch is not None:
            if not isinstance(epochs, int) or epochs <= 0:
                raise ValueError(f"Expected positive integer epochs, but got {epochs}")
            if not isinstance(steps_per_epoch, int) or steps_per_epoch <= 0:
                raise ValueError(f"Expected positive integer steps_per_epoch, but got {steps_per_epoch}")
            self.total_steps = epochs * steps_per_epoch
        else:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")

        # A phase goes until its last step, from one value to another; a value is the name of an option of the group.
        up = {
            "end_step": float(pct_start * self.total_steps) - 1,
            "start_lr": "initial_lr",
            "end_lr": "max_lr",
            "start_momentum": "max_momentum",
            "end_momentum": "base_momentum",
        }
        back = {
            "end_step": float(2 * pct_start * self.total_steps) - 2,
            "start_lr": "max_lr",
            "end_lr": "initial_lr",
            "start_momentum": "base_momentum",
            "end_momentum": "max_momentum",
        }
        down = {
            "end_step": self.total_steps - 1,
            "start_lr": "initial_lr" if three_phase else "max_lr",
            "end_lr": "min_lr",
            "start_momentum": "max_momentum" if three_phase else "base_momentum",
            "end_momentum": "max_momentum",
        }
        self._schedule_phases: list[dict[str, Any]] = [up, back, down] if three_phase else [up, down]

        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy

        max_lrs = _format_param("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, max_lrs, strict=True):
                group["initial_lr"] = lr / div_factor
                group["max_lr"] = lr
                group["min_lr"] = group["initial_lr"] / final_div_factor

        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            _check_momentum(optimizer)
            self.use_beta1 = "betas" in optimizer.defaults
            max_momentums = _format_param("max_momentum", optimizer, max_momentum)
            base_momentums = _format_param("base_momentum", optimizer, base_momentum)
            if last_epoch == -1:
                for largest, base, group in zip(max_momentums, base_momentums, optimizer.param_groups, strict=True):
                    _set_momentum(self, group, largest)
                    group["max_momentum"] = largest
                    group["base_momentum"] = base

        super().__init__(optimizer, last_epoch)

    def _anneal_func(self, start: Any, end: Any, pct: float) -> Any:
        return (
            self._annealing_cos(start, end, pct)
            if self._anneal_func_type == "cos"
            else self._annealing_linear(start, end, pct)
        )

    @staticmethod
    def _annealing_cos(start: Any, end: Any, pct: float) -> Any:
        """Return the value at part ``pct`` of half a wave of the cosine from ``start`` to ``end``."""
        return end + (start - end) / 2.0 * (math.cos(math.pi * pct) + 1)

    @staticmethod
    def _annealing_linear(start: Any, end: Any, pct: float) -> Any:
        """Return the value at part ``pct`` of a straight line from ``start`` to ``end``."""
        return (end - start) * pct + start

    def get_lr(self) -> list[Any]:
        """Compute the learning rates for ``self.last_epoch``, and set the momentum of the groups.

        Mirrors torch/optim/lr_scheduler.py, ``OneCycleLR.get_lr``.
        """
        _warn_get_lr_called_within_step(self)
        step_num = self.last_epoch
        if step_num > self.total_steps:
            raise ValueError(
                f"Tried to step {step_num} times. The specified number of total steps is {self.total_steps}"
            )
        start_step = 0.0
        for phase in self._schedule_phases:
            if step_num <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            start_step = phase["end_step"]
        pct = (step_num - start_step) / (phase["end_step"] - start_step)

        lrs = []
        for group in self.optimizer.param_groups:
            lrs.append(self._anneal_func(group[phase["start_lr"]], group[phase["end_lr"]], pct))
            if self.cycle_momentum:
                momentum = self._anneal_func(group[phase["start_momentum"]], group[phase["end_momentum"]], pct)
                _set_momentum(self, group, momentum)
        return lrs
