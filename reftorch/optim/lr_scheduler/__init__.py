"""Schedules of the learning rate.

Mirrors: torch/optim/lr_scheduler.py

PyTorch has all schedules in one file. Here they are in files by what makes the learning rate: a function of the program
(``functions.py``), a formula (``formulas.py``), schedules (``composed.py``), a measured value (``plateau.py``), or a
formula for every batch, also of the momentum (``cycles.py``). The base class is in ``scheduler.py``.

A schedule has up to two formulas. ``get_lr`` computes the learning rate from the present one, so several schedules of
one optimizer multiply their effects. ``_get_closed_form_lr`` computes the learning rate from the initial one and the
epoch alone; it is used when ``step`` is called with an epoch.
"""

from reftorch import _places
from reftorch.optim.lr_scheduler.composed import ChainedScheduler, SequentialLR
from reftorch.optim.lr_scheduler.cycles import CyclicLR, OneCycleLR
from reftorch.optim.lr_scheduler.formulas import (
    ConstantLR,
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    ExponentialLR,
    LinearLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from reftorch.optim.lr_scheduler.functions import LambdaLR, MultiplicativeLR
from reftorch.optim.lr_scheduler.plateau import ReduceLROnPlateau
from reftorch.optim.lr_scheduler.scheduler import LRScheduler

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

_places.split(__name__)
