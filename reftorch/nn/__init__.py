"""Networks: modules, parameters, losses and the initialization of parameters.

Mirrors: torch/nn/__init__.py
Leaves out: data parallelism, multi-head attention, quantization, and the layers that do not exist yet.
"""

from reftorch.nn import functional, init, utils
from reftorch.nn.modules import *  # noqa: F403
from reftorch.nn.modules import __all__ as _modules
from reftorch.nn.parameter import Buffer, Parameter

__all__ = ["Buffer", "Parameter", "functional", "init", "utils", *_modules]
