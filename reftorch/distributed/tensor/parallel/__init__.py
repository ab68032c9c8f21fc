"""Layers whose matrices are divided among the ranks, so that all ranks compute one product together.

Mirrors: torch/distributed/tensor/parallel/__init__.py
Leaves out: sequence parallelism, styles for other inputs and outputs, a loss of logits in pieces.
"""

from reftorch._api import getattr_of as _getattr_of
from reftorch.distributed.tensor.parallel.api import parallelize_module
from reftorch.distributed.tensor.parallel.style import ColwiseParallel, ParallelStyle, RowwiseParallel

__all__ = ["ColwiseParallel", "ParallelStyle", "RowwiseParallel", "parallelize_module"]

__getattr__ = _getattr_of(__name__)
