"""Optimizers: they update parameters by their gradients.

Mirrors: torch/optim/__init__.py
Leaves out: the optimizers that do not exist yet, learning rate schedules and averaging of weights.
"""

from reftorch.optim.adam import Adam
from reftorch.optim.adamw import AdamW
from reftorch.optim.optimizer import Optimizer
from reftorch.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
