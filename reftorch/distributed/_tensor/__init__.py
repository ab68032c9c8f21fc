"""The former place of torch.distributed.tensor.

Mirrors: torch/distributed/_tensor/__init__.py
"""

from reftorch.distributed.device_mesh import DeviceMesh, init_device_mesh
from reftorch.distributed.tensor import (
    DTensor,
    Partial,
    Placement,
    Replicate,
    Shard,
    distribute_module,
    distribute_tensor,
)

__all__ = ["DTensor", "DeviceMesh", "Partial", "Placement", "Replicate", "Shard", "distribute_module",
           "distribute_tensor", "init_device_mesh"]  # fmt: skip
