"""Networks: modules, parameters, losses and how parameters start.

Mirrors: torch/nn/__init__.py
Leaves out: data parallelism, attention, quantization and the layers that are not there yet.
"""

from reftorch.nn import functional, init, utils
from reftorch.nn.modules import *  # noqa: F403
from reftorch.nn.modules import __all__ as _modules
from reftorch.nn.parameter import Buffer, Parameter

__all__ = ["Buffer", "Parameter", "functional", "init", "utils", *_modules]
