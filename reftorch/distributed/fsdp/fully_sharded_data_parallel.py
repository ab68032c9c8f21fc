"""The file of PyTorch that defines the wrapper whose parameters lie in pieces.

Mirrors: torch/distributed/fsdp/fully_sharded_data_parallel.py
Leaves out: everything but the name.
"""

from reftorch.distributed.fsdp import FullyShardedDataParallel

__all__ = ["FullyShardedDataParallel"]
