"""Optimizers that run while the ranks still reduce gradients.

Mirrors: torch/distributed/algorithms/_optimizer_overlap/__init__.py
"""

from reftorch.distributed.algorithms._optimizer_overlap.optimizer_overlap import _as_overlapped_optim

__all__ = ["_as_overlapped_optim"]
