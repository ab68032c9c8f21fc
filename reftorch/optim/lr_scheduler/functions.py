"""Schedules from a function that the program passes.

Mirrors: torch/optim/lr_scheduler.py
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from reftorch.optim.lr_scheduler.scheduler import (
    LRScheduler,
    _param_groups_val_list,
    _warn_get_lr_called_within_step,
)
from reftorch.optim.optimizer import Optimizer

__all__ = ["LambdaLR", "MultiplicativeLR"]


class LambdaLR(LRScheduler):
    r"""The initial learning rate times a function of the epoch: :math:`\gamma_t = \gamma_0 f(t)`.

    Args:
        optimizer: the optimizer.
        lr_lambda: the function :math:`f`, or a list with one function for each group.
        last_epoch: the number of the last epoch, for a program that resumes (default -1).

    Raises:
        ValueError: the list does not have one function for each group.

    Example:
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
