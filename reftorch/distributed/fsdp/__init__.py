"""Training whose parameters lie in pieces on the ranks. It exists by its names only, so that a program can ask for it.

Mirrors: torch/distributed/fsdp/__init__.py
Leaves out: everything but the names: nothing here divides a module.
"""

from __future__ import annotations

from typing import Any, NoReturn

from reftorch import _api, _places

__all__ = ["CPUOffloadPolicy", "FSDPModule", "FullyShardedDataParallel", "MixedPrecisionPolicy", "fully_shard"]

_WHY = "parameters that lie in pieces on several ranks do not exist here. Hint: take DistributedDataParallel"


class FSDPModule:
    """The class that a module has in addition after ``fully_shard`` of PyTorch. No module has it here.

    Mirrors torch/distributed/fsdp/_fully_shard/_fully_shard.py, ``FSDPModule``.
    """


class FullyShardedDataParallel:
    """The wrapper of a module whose parameters lie in pieces. Nothing makes one here.

    Raises:
        NotImplementedError: always, when one is made.

    Mirrors torch/distributed/fsdp/fully_sharded_data_parallel.py, ``FullyShardedDataParallel``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"FullyShardedDataParallel: {_WHY}")


class MixedPrecisionPolicy:
    """The dtypes of a module in pieces. Nothing makes one here.

    Raises:
        NotImplementedError: always, when one is made.

    Mirrors torch/distributed/fsdp/_fully_shard/_fsdp_api.py, ``MixedPrecisionPolicy``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"MixedPrecisionPolicy: {_WHY}")


class CPUOffloadPolicy:
    """The wish to keep the pieces on the CPU. Nothing makes one here.

    Raises:
        NotImplementedError: always, when one is made.

    Mirrors torch/distributed/fsdp/_fully_shard/_fsdp_api.py, ``CPUOffloadPolicy``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"CPUOffloadPolicy: {_WHY}")


def fully_shard(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise an error.

    Raises:
        NotImplementedError: always.

    Mirrors torch/distributed/fsdp/_fully_shard/_fully_shard.py, ``fully_shard``.
    """
    raise NotImplementedError(f"fully_shard: {_WHY}")


_places.adopt(__name__, __all__, globals())
__getattr__ = _api.getattr_of(__name__)
