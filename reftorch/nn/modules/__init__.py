"""The layers.

Mirrors: torch/nn/modules/__init__.py
Leaves out: the families of layers that do not exist yet. One file holds one family.
"""

from reftorch.nn.modules import activation
from reftorch.nn.modules.activation import *  # noqa: F403
from reftorch.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from reftorch.nn.modules.container import ModuleDict, ModuleList, ParameterList, Sequential
from reftorch.nn.modules.dropout import Dropout
from reftorch.nn.modules.flatten import Flatten, Unflatten
from reftorch.nn.modules.linear import Identity, Linear
from reftorch.nn.modules.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
from reftorch.nn.modules.module import Module
from reftorch.nn.modules.normalization import LayerNorm, RMSNorm
from reftorch.nn.modules.sparse import Embedding

__all__ = [
    *activation.__all__,
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "Flatten",
    "HuberLoss",
    "Identity",
    "KLDivLoss",
    "L1Loss",
    "LayerNorm",
    "Linear",
    "MSELoss",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NLLLoss",
    "ParameterList",
    "RMSNorm",
    "Sequential",
    "SmoothL1Loss",
    "Unflatten",
]
