"""Schedules of the learning rate.

Mirrors: torch/optim/lr_scheduler.py
Leaves out: nothing.

The file is that many lines long because the file that it mirrors holds all schedules, and half of the lines are
docstrings.

A schedule has up to two formulas. ``get_lr`` computes the learning rate from the present one, so several schedules of
one optimizer multiply their effects. ``_get_closed_form_lr`` computes the learning rate from the initial one and the
epoch alone; it is used when ``step`` is called with an epoch.
"""

from __future__ import annotations

import math
import types
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from typing import Any, SupportsFloat
from weakref import ref

from reftorch import _C
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.optim.optimizer import Optimizer, _to_scalar

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being "
    "deprecated where possible. Please use `scheduler.step()` to step the "
    "scheduler. During the deprecation, if epoch is different from None, the "
    "closed form is used instead of the new chainable form, where available. "
    "Please open an issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose."
)
_HOW_TO = "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"


# --- values of the groups: numbers, or tensors of one element that are changed in place -------------------------------


def _copy(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value


def _format_param(name: str, optimizer: Optimizer, param: Any) -> list[Any]:
    """Return one value for each group; a single value is repeated."""
    groups = len(optimizer.param_groups)
    if not isinstance(param, list | tuple):
        param = [param] * groups
    elif len(param) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(param)} values, "
            f"param_groups has {groups}."
        )
    return [_copy(value) for value in param]


def _param_groups_val_list(optimizer: Optimizer, key: str) -> list[Any]:
    return [_copy(group[key]) for group in optimizer.param_groups]


def _update_param_group_val(param_group: dict[str, Any], key: str, val: float | Tensor) -> None:
    if isinstance(param_group[key], Tensor):
        param_group[key].fill_(_to_scalar(val))
    else:
        param_group[key] = val


def _check_optimizer(optimizer: Any) -> None:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer{_C._other_library_hint(optimizer)}")


# --- the base class ---------------------------------------------------------------------------------------------------


def _track_calls_of_step(optimizer: Optimizer) -> None:
    """Let ``optimizer.step`` note that it was called, so that a wrong order of the two steps can be noticed."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    # The wrapper is an attribute of the optimizer, so a strong reference back would be a cycle.
    reference, func = ref(optimizer), optimizer.step.__func__  # type: ignore[attr-defined]

    @wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        opt = reference()
        opt._opt_called = True  # type: ignore[union-attr]
        return func(opt, *args, **kwargs)

    wrapper._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = wrapper  # type: ignore[method-assign]


class LRScheduler:
    """The base class: sets the learning rate of each group of an optimizer, once per call of ``step``.

    A subclass defines ``get_lr``, which returns the learning rates for the epoch ``self.last_epoch``.

    Args:
        optimizer: the optimizer.
        last_epoch: the number of the last epoch, for a program that resumes; -1 for a start (default -1).

    Raises:
        TypeError: ``optimizer`` is not an optimizer.
        KeyError: ``last_epoch`` is not -1, and a group does not have its initial learning rate.

    Example:
        >>> import reftorch as torch
        >>> class Halve(torch.optim.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return [lr * 0.5**self.last_epoch for lr in self.base_lrs]
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
        >>> scheduler = Halve(optimizer)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.5]

    Mirrors torch/optim/lr_scheduler.py, ``LRScheduler``.
    """

    _get_lr_called_within_step: bool = False
    _is_initial: bool = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copy(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                    "last_epoch >= 0.\nThis typically happens when:\n"
                    "1. You're trying to resume training from a checkpoint but haven't properly loaded the optimizer "
                    "state\n2. You're using last_epoch >= 0 for a fresh training run (not recommended)"
                )
        self.base_lrs: list[Any] = _param_groups_val_list(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _track_calls_of_step(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the learning rates of the first epoch."""
        self._step_count = 0
        with _initial_mode(self):
            self.step()

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes but the optimizer as a dict.

        Mirrors torch/optim/lr_scheduler.py, ``LRScheduler.state_dict``.
        """
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the attributes from a dict that :meth:`state_dict` returned.

        The learning rate itself is in the state of the optimizer, which has to be loaded too.

        Mirrors torch/optim/lr_scheduler.py, ``LRScheduler.load_state_dict``.
        """
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """Return the learning rates that the last step set, one for each group.

        Mirrors torch/optim/lr_scheduler.py, ``LRScheduler.get_last_lr``.
        """
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """Compute the learning rates for ``self.last_epoch``; a program calls :meth:`get_last_lr` instead.

        Mirrors torch/optim/lr_scheduler.py, ``LRScheduler.get_lr``.
        """
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next epoch. A program calls this method after ``optimizer.step``.

        Args:
            epoch: the number of the epoch (deprecated).

        Mirrors torch/optim/lr_scheduler.py, ``LRScheduler.step``.
        """
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warn(
                    "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
                    "initialization. Please, make sure to call `optimizer.step()` before "
                    f"`lr_scheduler.step()`. See more details at {_HOW_TO}"
                )
            elif not getattr(self.optimizer, "_opt_called", False):
                warn(
                    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. "
                    "In PyTorch 1.1.0 and later, you should call them in the opposite order: "
                    "`optimizer.step()` before `lr_scheduler.step()`.  Failure to do this "
                    "will result in PyTorch skipping the first value of the learning rate schedule. "
                    f"See more details at {_HOW_TO}"
                )
        self._step_count += 1
        if epoch is not None:
            warn(EPOCH_DEPRECATION_WARNING)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        with _enable_get_lr_call(self):
            if epoch is None:
                self.last_epoch += 1
                values = self.get_lr()
            else:
                self.last_epoch = epoch
                values = getattr(self, "_get_closed_form_lr", self.get_lr)()
        for group, lr in zip(self.optimizer.param_groups, values, strict=True):
            _update_param_group_val(group, "lr", lr)
        self._last_lr = _param_groups_val_list(self.optimizer, "lr")


def _warn_get_lr_called_within_step(lr_scheduler: LRScheduler) -> None:
    if not lr_scheduler._get_lr_called_within_step:
        warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.")


class _LRScheduler(LRScheduler):
    """The name of the base class before PyTorch 2.0."""


class _enable_get_lr_call:
    """Within the block, ``get_lr`` does not warn that a program should call ``get_last_lr``."""

    def __init__(self, o: LRScheduler) -> None:
        self.o = o

    def __enter__(self) -> _enable_get_lr_call:
        self.o._get_lr_called_within_step = True
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.o._get_lr_called_within_step = False


class _initial_mode:
    """Within the block, ``get_lr`` computes the learning rates of the first epoch."""

    def __init__(self, o: LRScheduler) -> None:
        self.o = o

    def __enter__(self) -> None:
        self.o._is_initial = True

    def __exit__(self, *exc_info: object) -> None:
        self.o._is_initial = False


# --- schedules from a function ----------------------------------------------------------------------------------------


class LambdaLR(LRScheduler):
    r"""The initial learning rate times a function of the epoch: :math:`\gamma_t = \gamma_0 f(t)`.

    Args:
        optimizer: the optimizer.
        lr_lambda: the function :math:`f`, or a list with one function for each group.
        last_epoch: the number of the last epoch, for a program that resumes (default -1).

    Raises:
        ValueError: the list does not have one function for each group.

    Example:
        >>> import reftorch as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1)
        >>> scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
        >>> lrs = []
        >>> for _ in range(4):
        ...     lrs += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> [round(lr, 4) for lr in lrs]
        [0.1, 0.05, 0.0333, 0.025]

    Mirrors torch/optim/lr_scheduler.py, ``LambdaLR``.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = optimizer
        self.lr_lambdas = _lambdas_of_groups(optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes but the optimizer and functions; of a callable object, its attributes are kept.

        Mirrors torch/optim/lr_scheduler.py, ``LambdaLR.state_dict``.
        """
        return _state_dict_with_lambdas(self)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the attributes from a dict that :meth:`state_dict` returned; functions stay as they are.

        Mirrors torch/optim/lr_scheduler.py, ``LambdaLR.load_state_dict``.
        """
        _load_state_dict_with_lambdas(self, state_dict)

    def get_lr(self) -> list[Any]:
        _warn_get_lr_called_within_step(self)
        return [lr * f(self.last_epoch) for f, lr in zip(self.lr_lambdas, self.base_lrs, strict=True)]


def _lambdas_of_groups(optimizer: Optimizer, lr_lambda: Any) -> list[Callable[[int], float]]:
    groups = len(optimizer.param_groups)
    if not isinstance(lr_lambda, list | tuple):
        return [lr_lambda] * groups
    if len(lr_lambda) != groups:
        raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
    return list(lr_lambda)


def _state_dict_with_lambdas(scheduler: Any) -> dict[str, Any]:
    # A function cannot be saved; the attributes of an object that is called like a function can.
    state_dict = {key: value for key, value in scheduler.__dict__.items() if key not in ("optimizer", "lr_lambdas")}
    state_dict["lr_lambdas"] = [
        None if isinstance(fn, types.FunctionType) else fn.__dict__.copy() for fn in scheduler.lr_lambdas
    ]
    return state_dict


def _load_state_dict_with_lambdas(scheduler: Any, state_dict: dict[str, Any]) -> None:
    scheduler.__dict__.update({key: value for key, value in state_dict.items() if key != "lr_lambdas"})
    for fn, attributes in zip(scheduler.lr_lambdas, state_dict["lr_lambdas"], strict=False):
        if attributes is not None:
            fn.__dict__.update(attributes)


class MultiplicativeLR(LRScheduler):
    r"""The present learning rate times a function of the epoch: :math:`\gamma_t = \gamma_{t-1} f(t)`.

    Args:
        optimizer: the optimizer.
        lr_lambda: the function :math:`f`, or a list with one function for each group.
        last_epoch: the number of the last epoch, for a program that resumes (default -1).

    Raises:
        ValueError: the list does not have one function for each group.
        TypeError: one of them cannot be called.

    Example:
        >>> import reftorch as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1)
        >>> scheduler = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.05]

    Mirrors torch/optim/lr_scheduler.py, ``MultiplicativeLR``.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = optimizer
        self.lr_lambdas = _lambdas_of_groups(optimizer, lr_lambda)
        for fn in self.lr_lambdas:
            if not callable(fn):
                raise TypeError(f"lr_lambda should be a function, but got {type(fn).__name__}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes but the optimizer and functions; of a callable object, its attributes are kept.

        Mirrors torch/optim/lr_scheduler.py, ``MultiplicativeLR.state_dict``.
        """
        return _state_dict_with_lambdas(self)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the attributes from a dict that :meth:`state_dict` returned; functions stay as they are.

        Mirrors torch/optim/lr_scheduler.py, ``MultiplicativeLR.load_state_dict``.
        """
        _load_state_dict_with_lambdas(self, state_dict)

    def get_lr(self) -> list[Any]:
        _warn_get_lr_called_within_step(self)
        if self._is_initial:
            return _param_groups_val_list(self.optimizer, "lr")
        return [
            group["lr"] * f(self.last_epoch)
            for f, group in zip(self.lr_lambdas, self.optimizer.param_groups, strict=True)
        ]


# --- schedules from a formula -----------------------------------------------------------------------------------------


class StepLR(LRScheduler):
    r"""Multiply the learning rate by :math:`g` every :math:`s` epochs.

    In epoch :math:`t`, the learning rate is :math:`\gamma_t = \gamma_0 g^{\lfloor t/s \rfloor}`.

    Args:
        optimizer: the optimizer.
        step_size: the number :math:`s` of epochs.
        gamma: the factor :math:`g` (default 0.1).
        last_epoch: the number of the last epoch, for a program that resumes (default -1).

    Example:
        >>> import reftorch as torch
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
        >>> import reftorch as torch
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
        >>> import reftorch as torch
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
        >>> import reftorch as torch
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
        >>> import reftorch as torch
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
        >>> import reftorch as torch
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
        >>> import reftorch as torch
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
        >>> import reftorch as torch
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


# --- schedules made of schedules --------------------------------------------------------------------------------------


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
        >>> import reftorch as torch
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
        >>> import reftorch as torch
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


# --- a schedule from a measured value ---------------------------------------------------------------------------------


class ReduceLROnPlateau(LRScheduler):
    """Multiply the learning rate by ``factor`` when a measured value has stopped to improve.

    Args:
        optimizer: the optimizer.
        mode: ``"min"`` if a smaller value is better, ``"max"`` if a larger one is (default ``"min"``).
        factor: the factor, smaller than 1 (default 0.1).
        patience: the number of epochs without improvement that change nothing yet (default 10).
        threshold: the smallest improvement that counts (default 1e-4).
        threshold_mode: ``"rel"`` if the threshold is a part of the best value, ``"abs"`` if it is a difference
            (default ``"rel"``).
        cooldown: the number of epochs after a reduction that are not counted (default 0).
        min_lr: a lower bound of the learning rate, or a list with one for each group (default 0).
        eps: the smallest reduction that is made (default 1e-8).

    Raises:
        ValueError: an option is out of its range.
        TypeError: ``optimizer`` is not an optimizer.

    Example:
        >>> import reftorch as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1)
        >>> scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
        >>> for loss in [3.0, 2.0, 2.0, 2.0]:
        ...     optimizer.step()
        ...     scheduler.step(loss)
        >>> [round(lr, 4) for lr in scheduler.get_last_lr()]
        [0.01]

    Mirrors torch/optim/lr_scheduler.py, ``ReduceLROnPlateau``.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: list[float] | float = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        groups = len(optimizer.param_groups)
        self.default_min_lr: float | None
        if isinstance(min_lr, list | tuple):
            if len(min_lr) != groups:
                raise ValueError(f"expected {groups} min_lrs, got {len(min_lr)}")
            self.default_min_lr = None
            self.min_lrs = list(min_lr)
        else:
            self.default_min_lr = min_lr
            self.min_lrs = [min_lr] * groups
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = _param_groups_val_list(self.optimizer, "lr")
        self._init_is_better(mode=mode, threshold=threshold, threshold_mode=threshold_mode)
        self._reset()

    def _reset(self) -> None:
        """Forget all values."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: SupportsFloat, epoch: int | None = None) -> None:  # type: ignore[override]
        """Compare a value with the best one, and reduce the learning rate after too many epochs without improvement.

        Args:
            metrics: the measured value.
            epoch: the number of the epoch (deprecated).

        Mirrors torch/optim/lr_scheduler.py, ``ReduceLROnPlateau.step``.
        """
        current = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            warn(EPOCH_DEPRECATION_WARNING)
        self.last_epoch = epoch

        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(epoch)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = _param_groups_val_list(self.optimizer, "lr")

    def _reduce_lr(self, epoch: int) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new param group "
                    "being added to the optimizer. Please modify the `min_lrs` field to match the length of the "
                    "`optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, min_lr in zip(groups, self.min_lrs, strict=True):
            old_lr = float(group["lr"])
            new_lr = max(old_lr * self.factor, min_lr)
            if old_lr - new_lr > self.eps:
                _update_param_group_val(group, "lr", new_lr)

    @property
    def in_cooldown(self) -> bool:
        """Whether the epochs after a reduction are still not counted."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        sign = -1 if self.mode == "min" else 1
        bound = best * (1.0 + sign * self.threshold) if self.threshold_mode == "rel" else best + sign * self.threshold
        return a < bound if self.mode == "min" else a > bound

    def _init_is_better(self, mode: str, threshold: float, threshold_mode: str) -> None:
        if mode not in {"min", "max"}:
            raise ValueError("mode " + mode + " is unknown!")
        if threshold_mode not in {"rel", "abs"}:
            raise ValueError("threshold mode " + threshold_mode + " is unknown!")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the attributes from a dict that :meth:`state_dict` returned.

        Mirrors torch/optim/lr_scheduler.py, ``ReduceLROnPlateau.load_state_dict``.
        """
        self.__dict__.update(state_dict)
        self._init_is_better(mode=self.mode, threshold=self.threshold, threshold_mode=self.threshold_mode)


# --- schedules for every batch, of the learning rate and of the momentum ----------------------------------------------


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
        >>> import reftorch as torch
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
        >>> import reftorch as torch
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
