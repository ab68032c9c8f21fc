"""``fully_shard`` and its parts.

Mirrors: torch/distributed/fsdp/_fully_shard/__init__.py
"""

from reftorch.distributed.fsdp._fully_shard._fsdp_api import CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy
from reftorch.distributed.fsdp._fully_shard._fully_shard import FSDPModule, UnshardHandle, fully_shard

__all__ = [
    "CPUOffloadPolicy",
    "FSDPModule",
    "MixedPrecisionPolicy",
    "OffloadPolicy",
    "UnshardHandle",
    "fully_shard",
]
