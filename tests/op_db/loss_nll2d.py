"""Rows of the negative log likelihood of images.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.op_db.core import Apart, Input, Inputs, OpInfo, Sample
from tests.op_db.loss_nll import targets_out_of_range
from tests.op_db.samples.loss import MEAN, NONE, SUM
from tests.op_db.samples.unary import backward_op


def pixels(*shape: int, dtype: str = "int64") -> Input:
    return Input(np.arange(np.prod(shape, dtype=int)).reshape(shape) % 3, dtype)


def nll2d(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM):
        for weight in (None, make(3, low=0.1)):
            yield Sample((make(1, 3, 1, 2), pixels(1, 1, 2), weight, reduction, -100))
            yield Sample((make(2, 3, 4, 3), pixels(2, 4, 3), weight, reduction, 2))
    yield Sample((make(1, 2, 2, 2), pixels(1, 2, 2), None, MEAN, -100))
    yield Sample((make(1, 3, 2, 2), pixels(1, 2, 3), None, MEAN, -100))
    yield Sample((make(1, 3, 2, 2), pixels(1, 2, 2), make(2), MEAN, -100))
    yield Sample((make(1, 3, 2, 2), pixels(1, 2, 2, dtype="int32"), None, MEAN, -100))
    yield Sample((make(3, 2, 2), pixels(2, 2), None, MEAN, -100))


def nll_nd(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM):
        weight = make(3, low=0.1)
        yield Sample((make(3), Input(np.array(1), "int64"), weight, reduction, -100))
        yield Sample((make(4, 3), pixels(4), weight, reduction, -100))
        yield Sample((make(1, 3, 2), pixels(1, 2), weight, reduction, -100))
        yield Sample((make(2, 3, 2, 2), pixels(2, 2, 2), None, reduction, 0))
        yield Sample((make(1, 3, 2), pixels(1, 2), None, reduction, -100))
        yield Sample((make(2, 3, 2, 1, 2), pixels(2, 2, 1, 2), weight, reduction, -100))
        yield Sample((make(0, 3, 5), pixels(0, 5), None, reduction, -100))
    yield Sample((make(2, 3, 5), pixels(3, 5), None, MEAN, -100))
    yield Sample((make(2, 3, 5), pixels(2, 4), None, MEAN, -100))
    yield Sample((make(), pixels(1), None, MEAN, -100))


def backwards(make: Inputs) -> Iterator[Sample]:
    total = Input(np.array(1.75), make.dtype) if make.is_float else make()
    for weight in (None, make(3, low=0.1)):
        yield Sample((make(1, 2, 1), make(1, 3, 2, 1), pixels(1, 2, 1), weight, NONE, 1, total))
        yield Sample((make(), make(1, 3, 2, 1), pixels(1, 2, 1), weight, MEAN, 1, total))


def called(name: str) -> Any:
    return lambda lib, *args: backward_op(lib, name)(*args)


def other_layouts(make: Inputs) -> Iterator[Sample]:
    """torch's backward raises an error for the first, and torch casts the loss of no pixels to the dtype of out=."""
    for reduction in (NONE, MEAN):
        yield Sample((make(2, 3, 4, 1, layout="transposed"), pixels(2, 4, 1), None, reduction, 2))
        yield Sample((make(0, 3, 2, 2), pixels(0, 2, 2), None, reduction, -100))


ROWS = [
    OpInfo("nll_loss2d", nll2d),
    OpInfo("nll_loss2d_forward", nll2d, gradient=False, call=called("nll_loss2d_forward")),
    # Its formula counts the total weight anew, which is not the one given: the differences see the one given.
    OpInfo(
        "nll_loss2d_backward",
        backwards,
        torch_gradient=False,
        gradcheck=False,
        call=called("nll_loss2d_backward"),
        apart=(
            Apart("torch writes where no class is", when=targets_out_of_range, crashes=True),
            Apart("torch lays the gradient out like the input, and refuses that layout", says="must be contiguous"),
            Apart("torch lays the gradient out like the input, where it takes that layout", says="strides"),
            Apart(
                "of two mistakes, torch tells about the dtype of the input first",
                says='"nll_loss2d_backward_out_frame" not implemented',
            ),
        ),
    ),
    OpInfo("nll_loss_nd", nll_nd, call=lambda lib, *args: lib._C._nn.nll_loss_nd(*args)),
]
SPECIAL = [OpInfo("nll_loss2d", other_layouts)]
