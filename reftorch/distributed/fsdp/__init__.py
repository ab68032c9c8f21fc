"""Training whose parameters lie in pieces on the ranks.

Mirrors: torch/distributed/fsdp/__init__.py
Leaves out: ``FullyShardedDataParallel``, of which the name is there: ``fully_shard`` is its successor, in PyTorch, too.
"""

from __future__ import annotations

from typing import Any

from reftorch import _api, _places
from reftorch.distributed.fsdp._fully_shard import (
    CPUOffloadPolicy,
    FSDPModule,
    MixedPrecisionPolicy,
    OffloadPolicy,
    UnshardHandle,
    fully_shard,
)

__all__ = [
    "CPUOffloadPolicy",
    "FSDPModule",
    "FullyShardedDataParallel",
    "MixedPrecisionPolicy",
    "OffloadPolicy",
    "UnshardHandle",
    "fully_shard",
]


class FullyShardedDataParallel:
    """The wrapper of a module whose parameters lie in pieces, as it was before :func:`fully_shard`. Nothing makes one.

    It joins all parameters of a module to one flat parameter, which the program sees in its optimizer and its
    checkpoints, and needs some ten classes to convert them. PyTorch's documentation names ``fully_shard`` as its
    successor, which does the same with the parameters that the module has.

    Raises:
        NotImplementedError: always, when one is made.

    Mirrors torch/distributed/fsdp/fully_sharded_data_parallel.py, ``FullyShardedDataParallel``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "FullyShardedDataParallel: flat parameters do not exist here. Hint: torch.distributed.fsdp.fully_shard"
        )


_places.adopt(__name__, __all__, globals())
__getattr__ = _api.getattr_of(__name__)
