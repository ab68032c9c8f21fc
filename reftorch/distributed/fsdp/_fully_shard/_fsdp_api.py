"""The policies of ``fully_shard``: dtypes, and where the pieces are.

Mirrors: torch/distributed/fsdp/_fully_shard/_fsdp_api.py
Leaves out: everything but the defaults: pieces, whole parameters and gradients have one dtype and one device.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["CPUOffloadPolicy", "MixedPrecisionPolicy", "OffloadPolicy"]


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """The dtypes of a module in pieces. Only None is there: the dtype of the parameters.

    Args:
        param_dtype: of the whole parameters, in which forward and backward compute.
        reduce_dtype: in which gradients are added up over the ranks.
        output_dtype: of what ``forward`` returns.
        cast_forward_inputs: whether floating inputs are converted to ``param_dtype``.

    Raises:
        NotImplementedError: one of the dtypes is given.

    Example:
        >>> from reftorch.distributed.fsdp import MixedPrecisionPolicy
        >>> MixedPrecisionPolicy().param_dtype is None
        True

    Mirrors torch/distributed/fsdp/_fully_shard/_fsdp_api.py, ``MixedPrecisionPolicy``.
    """

    param_dtype: Any = None
    reduce_dtype: Any = None
    output_dtype: Any = None
    cast_forward_inputs: bool = True

    def __post_init__(self) -> None:
        for name in ("param_dtype", "reduce_dtype", "output_dtype"):
            if getattr(self, name) is not None:
                raise NotImplementedError(
                    f"MixedPrecisionPolicy: {name} must be None, because fully_shard has one dtype for pieces, whole "
                    "parameters and gradients here. Hint: convert the model before fully_shard, or take torch.autocast"
                )


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
