"""Optimizers of several processes.

Mirrors: torch/distributed/optim/__init__.py
Leaves out: all but ``ZeroRedundancyOptimizer`` and ``PostLocalSGDOptimizer``.
"""

from reftorch._api import getattr_of as _getattr_of
from reftorch.distributed.optim.post_localSGD_optimizer import PostLocalSGDOptimizer
from reftorch.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer

__all__ = ["PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]

__getattr__ = _getattr_of(__name__)
