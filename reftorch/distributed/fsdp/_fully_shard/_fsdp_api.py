"""The policies of ``fully_shard``: dtypes, and where the pieces are.

Mirrors: torch/distributed/fsdp/_fully_shard/_fsdp_api.py
Leaves out: pieces on another device than the whole parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["CPUOffloadPolicy", "MixedPrecisionPolicy", "OffloadPolicy"]


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """The dtypes of a module in pieces. The pieces, and what the optimizer changes, keep the dtype of the parameters.

    Args:
        param_dtype: of the whole parameters, in which they travel and in which forward and backward compute; None
            means the dtype of the pieces.
        reduce_dtype: in which gradients are added up over the ranks; None means that of the whole parameters.
        output_dtype: of the floating tensors that ``forward`` returns; None leaves them as they are.
        cast_forward_inputs: whether floating inputs are converted to ``param_dtype``.

    Example:
        >>> from reftorch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        ...     layer = fully_shard(torch.nn.Linear(2, 2), mp_policy=policy)
        ...     output = layer(torch.ones(1, 2))
        ...     output.sum().backward()
        ...     return output.dtype, layer.weight.dtype, layer.weight.grad.dtype
        >>> program()[0]
        (torch.bfloat16, torch.float32, torch.float32)

    Mirrors torch/distributed/fsdp/_fully_shard/_fsdp_api.py, ``MixedPrecisionPolicy``.
    """

    param_dtype: Any = None
    reduce_dtype: Any = None
    output_dtype: Any = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """The wish to keep the pieces where they are, which is the default.

    Mirrors torch/distributed/fsdp/_fully_shard/_fsdp_api.py, ``OffloadPolicy``.
    """


class CPUOffloadPolicy(OffloadPolicy):
    """The wish to keep the pieces of a model on devices in the CPU's memory. Nothing makes one here.

    Raises:
        NotImplementedError: always, when one is made.

    Mirrors torch/distributed/fsdp/_fully_shard/_fsdp_api.py, ``CPUOffloadPolicy``.
    """

    def __init__(self, pin_memory: bool = True) -> None:
        raise NotImplementedError("CPUOffloadPolicy: fully_shard trains on the CPU here, where the pieces are already")
