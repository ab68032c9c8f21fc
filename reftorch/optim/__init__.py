"""Optimizers: they update parameters by their gradients. Schedules of their learning rates. Averages of weights.

Mirrors: torch/optim/__init__.py
"""

from reftorch import _places
from reftorch.optim import lr_scheduler, swa_utils
from reftorch.optim._adafactor import Adafactor
from reftorch.optim._muon import Muon
from reftorch.optim._stateless import swap_in_optimizer_params_and_state
from reftorch.optim.adadelta import Adadelta
from reftorch.optim.adagrad import Adagrad
from reftorch.optim.adam import Adam
from reftorch.optim.adamax import Adamax
from reftorch.optim.adamw import AdamW
from reftorch.optim.asgd import ASGD
from reftorch.optim.lbfgs import LBFGS
from reftorch.optim.nadam import NAdam
from reftorch.optim.optimizer import Optimizer
from reftorch.optim.radam import RAdam
from reftorch.optim.rmsprop import RMSprop
from reftorch.optim.rprop import Rprop
from reftorch.optim.sgd import SGD
from reftorch.optim.sparse_adam import SparseAdam

_places.adopt(__name__, ("Adafactor", "Muon", "swap_in_optimizer_params_and_state"), globals())

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
    "swap_in_optimizer_params_and_state",
]
