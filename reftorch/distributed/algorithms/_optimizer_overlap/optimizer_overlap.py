"""How a kind of optimizer joins the reduction of gradients.

Mirrors: torch/distributed/algorithms/_optimizer_overlap/optimizer_overlap.py
Leaves out: FullyShardedDataParallel, which refuses there, too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from reftorch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from reftorch.distributed.algorithms.ddp_comm_hooks.optimizer_overlap_hooks import (
    _hook_then_optimizer,
    _OptimizerHookState,
)
from reftorch.distributed.optim.utils import as_functional_optim
from reftorch.optim.optimizer import Optimizer

__all__: list[str] = []

_registered_overlapped_optims: dict[type, Any] = {}


def register_overlapped(optim_cls: type) -> Callable[[Any], Any]:
    """Return a decorator that makes a class the way in which optimizers of another class join the reduction.

    Args:
        optim_cls: the class of the optimizers; those that derive from it are meant, too.

    Mirrors torch/distributed/algorithms/_optimizer_overlap/optimizer_overlap.py, ``register_overlapped``.
    """

    def decorator(target_overlapped_optim_cls: Any) -> Any:
        _registered_overlapped_optims[optim_cls] = target_overlapped_optim_cls
        return target_overlapped_optim_cls

    return decorator


class OverlappedOptimizer(ABC):
    """An optimizer that joins the reduction of gradients.

    Args:
        optim_cls: the class of the optimizer.

    Mirrors torch/distributed/algorithms/_optimizer_overlap/optimizer_overlap.py, ``OverlappedOptimizer``.
    """

    def __init__(self, optim_cls: type) -> None:
        self.optim_cls = optim_cls

    @abstractmethod
    def register_ddp(self, ddp: Any) -> None:
        """Join the reduction of a DistributedDataParallel module."""


@register_overlapped(Optimizer)
class _OverlappedStandardOptimizer(OverlappedOptimizer):
    """An optimizer of ``reftorch.optim`` that changes the parameters of a bucket when the bucket is averaged.

    Mirrors torch/distributed/algorithms/_optimizer_overlap/optimizer_overlap.py, the class of this name.
    """

    def __init__(self, optim_cls: type, params: Iterable[Any] | None, *optim_args: Any, **optim_kwargs: Any) -> None:
        super().__init__(optim_cls)
        optimizer = as_functional_optim(optim_cls, *optim_args, **optim_kwargs)
        self._opt_hook_state = _OptimizerHookState(optimizer, params)

    def register_ddp(self, ddp: Any) -> None:
        ddp.register_comm_hook(ddp.process_group, _hook_then_optimizer(allreduce_hook, self._opt_hook_state))


def _as_overlapped_optim(
    optim_cls: type, params: Iterable[Any] | None, *args: Any, **kwargs: Any
) -> OverlappedOptimizer:
    """Return what joins an optimizer of a class to the reduction of gradients.

    Args:
        optim_cls: the class of the optimizer.
        params: the parameters that the optimizer may change; all if None.
        args: arguments of the optimizer after the parameters.
        kwargs: arguments of the optimizer by name.

    Raises:
        ValueError: there is no such optimizer that can be given its gradients.

    Mirrors torch/distributed/algorithms/_optimizer_overlap/optimizer_overlap.py, ``_as_overlapped_optim``.
    """
    kinds = (_registered_overlapped_optims.get(each) for each in optim_cls.__mro__)
    kind = next((each for each in kinds if each is not None), _OverlappedStandardOptimizer)
    return kind(optim_cls, params, *args, **kwargs)
