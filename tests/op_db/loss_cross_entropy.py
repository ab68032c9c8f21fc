"""Rows of cross entropy.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import Apart, Input, Inputs, OpInfo, Sample
from tests.op_db.samples.loss import MEAN, NONE, SUM, classes


def cross_entropies(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM):
        for weight in (None, make(3, low=0.1)):
            for smoothing in (0.0, 0.2):
                yield Sample((make(4, 3), classes(0, 2, 1, 2), weight, reduction, -100, smoothing))
                yield Sample((make(4, 3), classes(0, 2, 1, 2), weight, reduction, 2, smoothing))
                yield Sample((make(3), Input(np.array(1), "int64"), weight, reduction, -100, smoothing))
                yield Sample((make(4, 3), make(4, 3, low=0, high=1), weight, reduction, -100, smoothing))
                yield Sample((make(3), make(3, low=0, high=1), weight, reduction, -100, smoothing))
    yield Sample((make(2, 3, 4), make(2, 3, 4, low=0, high=1), make(3, low=0.1), MEAN, -100, 0.1))
    yield Sample((make(0, 3), make(0, 3), make(3, low=0.1), MEAN, -100, 0.1))
    yield Sample((make(2, 3), make(2, 3), None, MEAN, 5, 0.0))
    yield Sample((make(2, 3), make(2, 3, dtype="int64"), None, MEAN, -100, 0.0))
    yield Sample((make(2, 3), classes(0, 1), None, MEAN, -100, 1.5))


ROWS = [
    OpInfo(
        "cross_entropy_loss",
        cross_entropies,
        call=lambda lib, *args: lib._C._nn.cross_entropy_loss(*args),
        apart=(
            Apart("the check is in nn.functional", says="Expected input batch_size"),
            Apart("a reduction that does not exist is the sum here", says="Invalid reduction type"),
            Apart("torch keeps the target's dimension in one of two terms", says="doesn't match the broadcast shape"),
            Apart("nn.functional flattens images to rows", says="input tensor should be 1D or 2D"),
        ),
    ),
]
