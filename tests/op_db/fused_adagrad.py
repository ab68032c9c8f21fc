"""Rows of the fused step of Adagrad.

Mirrors: torch/testing/_internal/common_optimizers.py
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.op_db.core import FLOATS, Apart, Input, Inputs, OpInfo, Sample
from tests.op_db.samples.fused import UNLIKE, update, updates


def adagrad(make: Inputs, lr: Any) -> Iterator[Sample]:
    if make.is_float:
        for more in ({}, {"weight_decay": 0.1, "maximize": True, "lr_decay": 0.5}):
            options = {"lr": lr, "lr_decay": 0.0, "weight_decay": 0.0, "eps": 1e-3, "maximize": False, **more}
            yield from updates(make, 3, options, steps=3)


HALF = Apart(
    "of 16-bit floats, torch's kernel rounds other values than its loop does for the last elements",
    says="Mismatched elements",
    when=lambda sample: sample.args[0][0].dtype in FLOATS[2:],
)

# There is no derivative, hence no gradcheck. The root of a sum of squares near 0 loses digits.
VALUES = [
    OpInfo(
        "_fused_adagrad_",
        lambda make: adagrad(make, 0.125),
        call=update("_fused_adagrad_"),
        gradcheck=False,
        rtol=1e-4,
        apart=(UNLIKE, HALF),
    ),
    OpInfo(
        "_fused_adagrad_.tensor_lr",
        lambda make: adagrad(make, Input(np.array(0.125), "float32")),
        call=update("_fused_adagrad_", "tensor_lr"),
        gradcheck=False,
        rtol=1e-4,
        apart=(UNLIKE, HALF),
    ),
]
