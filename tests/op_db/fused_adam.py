"""Rows of the fused steps of Adam and AdamW.

Mirrors: torch/testing/_internal/common_optimizers.py
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.op_db.core import Input, Inputs, OpInfo, Sample
from tests.op_db.samples.fused import UNLIKE, update, updates

CHOICES: tuple[dict[str, Any], ...] = ({}, {"weight_decay": 0.1, "maximize": True}, {"amsgrad": True, "beta1": 0.3})


def adam(make: Inputs, lr: Any) -> Iterator[Sample]:
    if make.is_float:
        for more in CHOICES:
            options = {"lr": lr, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0, "eps": 1e-3, "amsgrad": False}
            options |= {"maximize": False, **more}
            amsgrad = options["amsgrad"]
            yield from updates(make, 5 if amsgrad else 4, options, empty=0 if amsgrad else 1, steps=3)


# There is no derivative, hence no gradcheck.
VALUES = [
    row
    for name in ("_fused_adam_", "_fused_adamw_")
    for row in (
        OpInfo(name, lambda make: adam(make, 0.125), call=update(name), gradcheck=False, apart=(UNLIKE,)),
        OpInfo(
            f"{name}.tensor_lr",
            lambda make: adam(make, Input(np.array(0.125), "float32")),
            call=update(name, "tensor_lr"),
            gradcheck=False,
            apart=(UNLIKE,),
        ),
    )
]
