"""Tensors that lie in pieces on the ranks of a mesh.

Mirrors: torch/distributed/tensor/__init__.py
Leaves out: factories such as ``zeros``, experimental features; see the headers of the parts.
"""

from __future__ import annotations

from reftorch import _places
from reftorch._api import getattr_of as _getattr_of
from reftorch.distributed.tensor._api import DTensor, distribute_module, distribute_tensor
from reftorch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = ["DTensor", "Partial", "Placement", "Replicate", "Shard", "distribute_module", "distribute_tensor"]

_places.adopt(__name__, ["DTensor", "distribute_module", "distribute_tensor"], globals())
__getattr__ = _getattr_of(__name__, ("parallel",))
