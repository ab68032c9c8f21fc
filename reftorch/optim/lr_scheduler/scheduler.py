"""The base class of the schedules, and the values of the groups that a schedule sets.

Mirrors: torch/optim/lr_scheduler.py
"""

from __future__ import annotations

from functools import wraps
from typing import Any
from weakref import ref

from reftorch import _C
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.optim.optimizer import Optimizer, _to_scalar

__all__ = ["LRScheduler"]

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
