"""Rows of the negative log likelihood and of cross entropy.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.op_db.core import Apart, Input, Inputs, OpInfo, Sample
from tests.op_db.samples.loss import MEAN, NONE, SUM, classes
from tests.op_db.samples.unary import backward_op


def nll(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM):
        for weight in (None, make(3, low=0.1)):
            yield Sample((make(4, 3), classes(0, 2, 1, 2), weight, reduction, -100))
            yield Sample((make(4, 3, layout="transposed"), classes(0, 2, 1, 2), weight, reduction, 2))
            yield Sample((make(3), Input(np.array(1), "int64"), weight, reduction, -100))
            yield Sample((make(2, 3), classes(-100, -100), weight, reduction, -100))
            yield Sample((make(0, 3), classes(), weight, reduction, -100))
            yield Sample((make(2, 3), classes(0, 1, dtype="uint8"), weight, reduction, -100))
    yield Sample((make(2, 3), classes(0, 3), None, MEAN, -100))
    yield Sample((make(2, 3), classes(0, -1), None, MEAN, -100))
    yield Sample((make(2, 3), classes(0, 1, 2), None, MEAN, -100))
    yield Sample((make(2, 3), classes(0, 1, dtype="int32"), None, MEAN, -100))
    yield Sample((make(2, 3), classes(0, 1), make(2), MEAN, -100))
    yield Sample((make(2, 3, 4, 5), classes(0, 1), None, MEAN, -100))


def targets_out_of_range(sample: Sample) -> bool:
    _, scores, targets, _, _, ignored, _ = sample.args
    known = targets.values[targets.values != ignored]
    n_classes = scores.values.shape[-1] if scores.values.ndim else 0
    return bool(((known < 0) | (known >= n_classes)).any())


def nll_backward(lib: Any, *args: Any) -> Any:
    return backward_op(lib, "nll_loss_backward")(*args)


def nll_backwards(make: Inputs) -> Iterator[Sample]:
    total = make.of(1.7)
    for weight in (None, make(3, low=0.1)):
        yield Sample((make(4), make(4, 3), classes(0, 2, 1, 2), weight, NONE, 1, Input(total.values[0], total.dtype)))
        yield Sample((make(), make(4, 3), classes(0, 2, 1, 2), weight, MEAN, 1, Input(total.values[0], total.dtype)))


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
    OpInfo("nll_loss", nll),
    OpInfo(
        "nll_loss_forward",
        nll,
        gradient=False,
        call=lambda lib, *args: backward_op(lib, "nll_loss_forward")(*args),
    ),
    # Its formula counts the total weight anew, which is not the one given: the differences see the one given.
    OpInfo(
        "nll_loss_backward",
        nll_backwards,
        torch_gradient=False,
        gradcheck=False,
        call=nll_backward,
        apart=(
            Apart("torch writes where no class is", when=targets_out_of_range, crashes=True),
            Apart("torch looks at the other inputs before the targets' dtype", says="expected target dtype to be Long"),
        ),
    ),
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
