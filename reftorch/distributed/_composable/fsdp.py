"""The former place of ``fully_shard`` and its class.

Mirrors: torch/distributed/_composable/fsdp/__init__.py
"""

from reftorch.distributed.fsdp import FSDPModule, fully_shard

__all__ = ["FSDPModule", "fully_shard"]
