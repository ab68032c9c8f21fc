"""Communication hooks of DistributedDataParallel, and their list.

Mirrors: torch/distributed/algorithms/ddp_comm_hooks/__init__.py
Leaves out: of the hooks with an optimizer, the list: they have files of their own.
"""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Any

from reftorch._api import getattr_of as _getattr_of
from reftorch.distributed.algorithms.ddp_comm_hooks import debugging_hooks as debugging
from reftorch.distributed.algorithms.ddp_comm_hooks import default_hooks as default
from reftorch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as powerSGD
from reftorch.distributed.algorithms.ddp_comm_hooks import quantization_hooks as quantization

__all__ = ["DDPCommHookType", "register_ddp_comm_hook"]

__getattr__ = _getattr_of(__name__)


def _register(model: Any, state: Any, hook: Any) -> None:
    model.register_comm_hook(state, hook)


def _register_powerSGD(model: Any, state: Any, hook: Any, matrix_approximation_rank: int) -> None:
    settings = powerSGD.PowerSGDState(process_group=state, matrix_approximation_rank=matrix_approximation_rank)
    model.register_comm_hook(settings, hook)


class DDPCommHookType(Enum):
    """The hooks by name, for programs that read the name of a hook from their arguments.

    Example:
        >>> from reftorch.distributed.algorithms.ddp_comm_hooks import DDPCommHookType
        >>> [each.name for each in DDPCommHookType if "POWER" in each.name]
        ['POWER_SGD', 'POWER_SGD_RANK2', 'BATCHED_POWER_SGD', 'BATCHED_POWER_SGD_RANK2']

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/__init__.py, ``DDPCommHookType``.
    """

    ALLREDUCE = partial(_register, hook=default.allreduce_hook)
    FP16_COMPRESS = partial(_register, hook=default.fp16_compress_hook)
    BF16_COMPRESS = partial(_register, hook=default.bf16_compress_hook)
    QUANTIZE_PER_TENSOR = partial(_register, hook=quantization.quantization_pertensor_hook)
    QUANTIZE_PER_CHANNEL = partial(_register, hook=quantization.quantization_perchannel_hook)
    POWER_SGD = partial(_register_powerSGD, hook=powerSGD.powerSGD_hook, matrix_approximation_rank=1)
    POWER_SGD_RANK2 = partial(_register_powerSGD, hook=powerSGD.powerSGD_hook, matrix_approximation_rank=2)
    BATCHED_POWER_SGD = partial(_register_powerSGD, hook=powerSGD.batched_powerSGD_hook, matrix_approximation_rank=1)
    BATCHED_POWER_SGD_RANK2 = partial(
        _register_powerSGD, hook=powerSGD.batched_powerSGD_hook, matrix_approximation_rank=2
    )
    NOOP = partial(_register, hook=debugging.noop_hook)


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: Any, state: Any = None) -> None:
    """Register a hook of the list.

    Args:
        comm_hook_type: the hook.
        model: the DistributedDataParallel module.
        state: the argument of the hook; a process group, or None for the default group.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/__init__.py, ``register_ddp_comm_hook``.
    """
    comm_hook_type.value(model=model, state=state)
