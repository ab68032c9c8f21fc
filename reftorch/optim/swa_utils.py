"""Averages of the parameters over the training: stochastic weight averaging and exponential moving averages.

Mirrors: torch/optim/swa_utils.py

This is the one file of ``reftorch.optim`` that imports ``reftorch.nn``: an averaged model is a module.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.autograd.grad_mode import no_grad
from reftorch.nn.modules.batchnorm import _BatchNorm
from reftorch.nn.modules.module import Module
from reftorch.optim.lr_scheduler import LRScheduler
from reftorch.optim.lr_scheduler.scheduler import _format_param
from reftorch.optim.optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], None]:
    r"""Return the function that updates a list of exponential moving averages: :math:`a \leftarrow d a + (1 - d) p`.

    Args:
        decay: :math:`d` (default 0.999).

    Raises:
        ValueError: the decay is not between 0 and 1.

    Example:
        >>> average = torch.ones(2)
        >>> torch.optim.swa_utils.get_ema_multi_avg_fn(0.75)([average], [torch.zeros(2)], 1)
        >>> average
        tensor([0.7500, 0.7500])

    Mirrors torch/optim/swa_utils.py, ``get_ema_multi_avg_fn``.
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list: Any, current_param_list: Any, _: Any) -> None:
        if ema_param_list[0].is_floating_point():
            _VF._foreach_lerp_(ema_param_list, current_param_list, 1 - decay)
            return
        for p_ema, p_model in zip(ema_param_list, current_param_list, strict=True):
            p_ema.copy_(p_ema * decay + p_model * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable[[Any, Any, Any], None]:
    r"""Return the function that updates a list of averages: :math:`a \leftarrow a + (p - a) / (n + 1)`.

    Here :math:`n` is the number of models in the averages so far.

    Example:
        >>> average = torch.ones(2)
        >>> torch.optim.swa_utils.get_swa_multi_avg_fn()([average], [torch.zeros(2)], 1)
        >>> average
        tensor([0.5000, 0.5000])

    Mirrors torch/optim/swa_utils.py, ``get_swa_multi_avg_fn``.
    """

    @no_grad()
    def swa_update(averaged_param_list: Any, current_param_list: Any, num_averaged: Tensor | int) -> None:
        weight = 1 / (int(num_averaged) + 1)
        if averaged_param_list[0].is_floating_point():
            _VF._foreach_lerp_(averaged_param_list, current_param_list, weight)
            return
        for p_averaged, p_model in zip(averaged_param_list, current_param_list, strict=True):
            p_averaged.copy_(p_averaged + (p_model - p_averaged) * weight)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Tensor, Tensor, Any], Tensor]:
    """Return the function that returns one exponential moving average; see :func:`get_ema_multi_avg_fn`.

    Args:
        decay: the part of the old average in the new one (default 0.999).

    Raises:
        ValueError: the decay is not between 0 and 1.

    Example:
        >>> torch.optim.swa_utils.get_ema_avg_fn(0.75)(torch.ones(2), torch.zeros(2), 1)
        tensor([0.7500, 0.7500])

    Mirrors torch/optim/swa_utils.py, ``get_ema_avg_fn``.
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[[Tensor, Tensor, Any], Tensor]:
    """Return the function that returns one average with equal weights; see :func:`get_swa_multi_avg_fn`.

    Example:
        >>> torch.optim.swa_utils.get_swa_avg_fn()(torch.ones(2), torch.zeros(2), 1)
        tensor([0.5000, 0.5000])

    Mirrors torch/optim/swa_utils.py, ``get_swa_avg_fn``.
    """

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Tensor | int) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model, whose parameters are averages of the parameters of the model over the training.

    The default is stochastic weight averaging, an average with equal weights. Exponential moving averages are made by
    ``multi_avg_fn=get_ema_multi_avg_fn()``. The running statistics of batch normalization belong to no average: call
    :func:`update_bn` before the averaged model is used, or average the buffers too.

    Args:
        model: the model, which is copied.
        device: the device of the copy; that of the model by default.
        avg_fn: called with an averaged parameter, a parameter of the model and the number of models so far, returns
            the new average.
        multi_avg_fn: called with two lists of parameters and the number of models, updates the first list in place.
        use_buffers: whether to average buffers too; otherwise they are copied (default False).

    Raises:
        AssertionError: both ``avg_fn`` and ``multi_avg_fn`` are given.

    Example:
        >>> model = torch.nn.Linear(1, 1, bias=False)
        >>> averaged = torch.optim.swa_utils.AveragedModel(model)
        >>> for weight in [1.0, 2.0, 6.0]:
        ...     with torch.no_grad():
        ...         _ = model.weight.fill_(weight)
        ...     averaged.update_parameters(model)
        >>> averaged.module.weight.item(), averaged.n_averaged.item()
        (3.0, 3)

    Mirrors torch/optim/swa_utils.py, ``AveragedModel``.
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable[[Tensor, Tensor, Any], Tensor] | None = None,
        multi_avg_fn: Callable[[Any, Any, Any], None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", _C.tensor(0, dtype=_C.int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the averaged copy of the model.

        Mirrors torch/optim/swa_utils.py, ``AveragedModel.forward``.
        """
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of a model into the averages; the first call copies them.

        Args:
            model: a model with the same parameters.

        Mirrors torch/optim/swa_utils.py, ``AveragedModel.update_parameters``.
        """
        averages = [p.detach() for p in self._averaged(self.module)]
        values = [p.detach().to(a.device) for a, p in zip(averages, self._averaged(model), strict=False)]
        if self.n_averaged == 0:
            for average, value in zip(averages, values, strict=False):
                average.copy_(value)
        elif self.avg_fn is not None:
            for average, value in zip(averages, values, strict=False):
                average.copy_(self.avg_fn(average, value, self.n_averaged.to(average.device)))
        else:
            self._update_together(averages, values, self.multi_avg_fn or get_swa_multi_avg_fn())
        if not self.use_buffers:
            for averaged_buffer, buffer in zip(self.module.buffers(), model.buffers(), strict=True):
                averaged_buffer.detach().copy_(buffer.detach().to(averaged_buffer.device))
        self.n_averaged += 1

    def _averaged(self, module: Module) -> Iterable[Tensor]:
        """Return the tensors of a module that are averaged."""
        return itertools.chain(module.parameters(), module.buffers()) if self.use_buffers else module.parameters()

    def _update_together(self, averages: list[Tensor], values: list[Tensor], multi_avg_fn: Callable[..., None]) -> None:
        # One call for each device and dtype, because a function for lists may ask for tensors of one kind.
        kinds: dict[Any, tuple[list[Tensor], list[Tensor]]] = {}
        for average, value in zip(averages, values, strict=False):
            lists = kinds.setdefault((average.device, average.dtype), ([], []))
            lists[0].append(average)
            lists[1].append(value)
        for (device, _), lists in kinds.items():
            multi_avg_fn(*lists, self.n_averaged.to(device))


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of all batch normalizations of a model afresh, by one pass over data.

    Args:
        loader: iterable of batches; of a batch that is a list or tuple, the first element is the input.
        model: the model, which may be an :class:`AveragedModel`.
        device: the device to which each batch is moved before the model is called.

    Example:
        >>> model = torch.nn.Sequential(torch.nn.BatchNorm1d(1))
        >>> torch.optim.swa_utils.update_bn([torch.tensor([[1.0], [3.0]]), torch.tensor([[5.0], [7.0]])], model)
        >>> model[0].running_mean
        tensor([4.])

    Mirrors torch/optim/swa_utils.py, ``update_bn``.
    """
    momenta = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return

    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None  # the running statistics are the means of those of the batches
    for input in loader:
        if isinstance(input, list | tuple):
            input = input[0]
        if device is not None:
            input = input.to(device)
        model(input)
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    r"""Bring the learning rate to a constant one, at which stochastic weight averaging explores.

    With :math:`n` epochs and the shape :math:`\alpha`, :math:`\gamma_t = (1 - \alpha_t) \gamma_0 + \alpha_t
    \gamma_\text{swa}`, where :math:`\alpha_t = \min(1, t/n)` or :math:`\alpha_t = (1 - \cos(\pi \min(1, t/n))) / 2`.

    Args:
        optimizer: the optimizer.
        swa_lr: :math:`\gamma_\text{swa}`, or a list with one for each group.
        anneal_epochs: :math:`n` (default 10).
        anneal_strategy: ``"cos"`` or ``"linear"`` (default ``"cos"``).
        last_epoch: the number of the last epoch, for a program that resumes (default -1).

    Raises:
        ValueError: an option is out of its range.

    Example:
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1)
        >>> scheduler = torch.optim.swa_utils.SWALR(optimizer, swa_lr=0.02, anneal_epochs=2, anneal_strategy="linear")
        >>> lrs = []
        >>> for _ in range(4):
        ...     lrs += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> [round(lr, 4) for lr in lrs]
        [0.1, 0.06, 0.02, 0.02]

    Mirrors torch/optim/swa_utils.py, ``SWALR``.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for lr, group in zip(_format_param("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._set_anneal_func(anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _linear_anneal(t: float) -> float:
        return t

    @staticmethod
    def _cosine_anneal(t: float) -> float:
        return (1 - math.cos(math.pi * t)) / 2

    @staticmethod
    def _get_initial_lr(lr: Any, swa_lr: Any, alpha: float) -> Any:
        """Return the learning rate from which ``lr`` came: the solution of the formula for the first one."""
        return swa_lr if alpha == 1 else (lr - alpha * swa_lr) / (1 - alpha)

    def _alpha(self, step: float) -> float:
        return self.anneal_func(max(0, min(1, step / max(1, self.anneal_epochs))))

    def get_lr(self) -> list[Any]:
        """Compute the learning rates of the next epoch from the present ones.

        Mirrors torch/optim/swa_utils.py, ``SWALR.get_lr``.
        """
        if not self._get_lr_called_within_step:
            warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.")
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._alpha(step - 1), self._alpha(step)
        lrs = []
        for group in self.optimizer.param_groups:
            initial = self._get_initial_lr(group["lr"], group["swa_lr"], before)
            lrs.append(group["swa_lr"] * now + initial * (1 - now))
        return lrs

    def _set_anneal_func(self, anneal_strategy: str) -> None:
        self._anneal_strategy = anneal_strategy
        self.anneal_func = self._cosine_anneal if anneal_strategy == "cos" else self._linear_anneal

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes but the optimizer and the function as a dict.

        Mirrors torch/optim/swa_utils.py, ``SWALR.state_dict``.
        """
        return {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "anneal_func")}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the attributes from a dict that :meth:`state_dict` returned.

        Mirrors torch/optim/swa_utils.py, ``SWALR.load_state_dict``.
        """
        self.__dict__.update(state_dict)
        self._set_anneal_func(self._anneal_strategy)
