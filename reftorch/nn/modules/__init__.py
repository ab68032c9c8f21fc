"""The layers.

Mirrors: torch/nn/modules/__init__.py
Leaves out: the families of layers that are not there yet; one file holds one family.
"""

from reftorch.nn.modules import _activation_formulas
from reftorch.nn.modules._activation_formulas import *  # noqa: F403
from reftorch.nn.modules.activation import LogSoftmax, ReLU, Sigmoid, Softmax, Tanh
from reftorch.nn.modules.container import ModuleDict, ModuleList, ParameterList, Sequential
from reftorch.nn.modules.flatten import Flatten, Unflatten
from reftorch.nn.modules.linear import Identity, Linear
from reftorch.nn.modules.loss import CrossEntropyLoss, MSELoss, NLLLoss
from reftorch.nn.modules.module import Module

__all__ = [
    *_activation_formulas.__all__,
    "CrossEntropyLoss",
    "Flatten",
    "Identity",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NLLLoss",
    "ParameterList",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "Unflatten",
]
