"""Rows of the fused step of stochastic gradient descent.

Mirrors: torch/testing/_internal/common_optimizers.py
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.op_db.core import Input, Inputs, OpInfo, Sample
from tests.op_db.samples.fused import SHAPES, SMALL, UNLIKE, update, updates

OPTIONS = {"weight_decay": 0.0, "momentum": 0.0, "dampening": 0.0, "nesterov": False, "maximize": False}
CHOICES: tuple[dict[str, Any], ...] = (
    {},
    {"momentum": 0.9, "is_first_step": True},
    {"momentum": 0.9, "dampening": 0.25, "weight_decay": 0.1, "maximize": True},
    {"momentum": 0.5, "nesterov": True, "weight_decay": 0.5},
)


def sgd(make: Inputs, lr: Any) -> Iterator[Sample]:
    if make.is_float:
        for more in CHOICES:
            options = {"lr": lr, **OPTIONS, "is_first_step": False, **more}
            has_momentum = options["momentum"] != 0
            # Of 16-bit floats, torch's kernel takes another gradient than its loop does where maximize or weight decay
            # change it, but not in the few elements at the end. 700 equal elements show it: two values come out.
            shapes = SHAPES if make.dtype in ("float64", "float32") else SMALL
            lists, empty = (3, 0) if has_momentum else (2, 1)
            yield from updates(make, lists, options, empty=empty, shapes=shapes)


# There is no derivative, hence no gradcheck.
VALUES = [
    OpInfo("_fused_sgd_", lambda make: sgd(make, 0.125), call=update("_fused_sgd_"), gradcheck=False, apart=(UNLIKE,)),
    OpInfo(
        "_fused_sgd_.tensor_lr",
        lambda make: sgd(make, Input(np.array(0.125), "float32")),
        call=update("_fused_sgd_", "tensor_lr"),
        gradcheck=False,
        apart=(UNLIKE,),
    ),
]
