"""Optimizers of several processes, and optimizers that run inside backward.

Mirrors: torch/distributed/optim/__init__.py
Leaves out: ``DistributedOptimizer``, which needs calls between processes, and optimizers with names for states.
"""

from reftorch._api import getattr_of as _getattr_of
from reftorch.distributed.optim._functional import _FunctionalAdadelta as _FunctionalAdadelta
from reftorch.distributed.optim._functional import _FunctionalAdagrad as _FunctionalAdagrad
from reftorch.distributed.optim._functional import _FunctionalAdam as _FunctionalAdam
from reftorch.distributed.optim._functional import _FunctionalAdamax as _FunctionalAdamax
from reftorch.distributed.optim._functional import _FunctionalAdamW as _FunctionalAdamW
from reftorch.distributed.optim._functional import _FunctionalRMSprop as _FunctionalRMSprop
from reftorch.distributed.optim._functional import _FunctionalRprop as _FunctionalRprop
from reftorch.distributed.optim._functional import _FunctionalSGD as _FunctionalSGD
from reftorch.distributed.optim.apply_optimizer_in_backward import (
    _apply_optimizer_in_backward as _apply_optimizer_in_backward,
)
from reftorch.distributed.optim.apply_optimizer_in_backward import (
    _get_in_backward_optimizers as _get_in_backward_optimizers,
)
from reftorch.distributed.optim.post_localSGD_optimizer import PostLocalSGDOptimizer
from reftorch.distributed.optim.utils import as_functional_optim
from reftorch.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer

__all__ = ["PostLocalSGDOptimizer", "ZeroRedundancyOptimizer", "as_functional_optim"]

__getattr__ = _getattr_of(__name__)
