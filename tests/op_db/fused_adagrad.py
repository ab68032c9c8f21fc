"""Rows of the fused step of Adagrad.

Mirrors: torch/testing/_internal/common_optimizers.py
Leaves out: nothing.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.op_db.core import Input, Inputs, OpInfo, Sample
from tests.op_db.samples.fused import update, updates


def adagrad(make: Inputs, lr: Any) -> Iterator[Sample]:
    if make.is_float:
        for more in ({}, {"weight_decay": 0.1, "maximize": True, "lr_decay": 0.5}):
            options = {"lr": lr, "lr_decay": 0.0, "weight_decay": 0.0, "eps": 1e-3, "maximize": False, **more}
            yield from updates(make, 3, options, steps=3)


# There is no derivative, hence no gradcheck.
VALUES = [
    OpInfo("_fused_adagrad_", lambda make: adagrad(make, 0.125), call=update("_fused_adagrad_"), gradcheck=False),
    OpInfo(
        "_fused_adagrad_.tensor_lr",
        lambda make: adagrad(make, Input(np.array(0.125), "float32")),
        call=update("_fused_adagrad_", "tensor_lr"),
        gradcheck=False,
    ),
]
