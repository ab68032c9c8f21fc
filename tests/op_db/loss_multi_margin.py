"""Rows of the margin losses of classes.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Iterator

import numpy as np

from tests.op_db.core import Apart, Input, Inputs, OpInfo, Sample
from tests.op_db.samples.loss import MEAN, NONE, SUM, classes
from tests.op_db.samples.unary import backward_op


def labels(*rows: tuple[int, ...]) -> Input:
    """The right classes of each example; -1 ends a list."""
    return Input(np.array(rows), "int64")


LABELS = labels((2, 0, -1), (-1, 1, 2), (1, -1, 0), (2, 1, 0))
ONE = Input(np.array(1), "int64")


def multi_margins(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM):
        for weight in (None, make(3, low=0.1)):
            yield Sample((make(4, 3), classes(0, 2, 1, 2), 1, 1.0, weight, reduction))
            yield Sample((make(4, 3, layout="transposed"), classes(0, 2, 1, 2), 2, 0.5, weight, reduction))
            yield Sample((make(3), ONE, 1, 1.0, weight, reduction))
            yield Sample((make(3), classes(1), 2, 1.0, weight, reduction))
    yield Sample((make(4, 3), classes(0, 3, 1, 2), 1, 1.0, None, MEAN))
    yield Sample((make(4, 3), classes(0, -1, 1, 2), 1, 1.0, None, MEAN))
    yield Sample((make(4, 3), classes(0, 1), 1, 1.0, None, MEAN))
    yield Sample((make(4, 3), classes(0, 2, 1, 2), 3, 1.0, None, MEAN))
    yield Sample((make(4, 3), classes(0, 2, 1, 2), 1, 1.0, make(2), MEAN))
    yield Sample((make(4, 3), classes(0, 2, 1, 2, dtype="int32"), 1, 1.0, None, MEAN))
    yield Sample((make(4, 0), classes(0, 2, 1, 2), 1, 1.0, None, MEAN))


def multi_margin_backwards(make: Inputs) -> Iterator[Sample]:
    for weight in (None, make(3, low=0.1)):
        yield Sample((make(4), make(4, 3), classes(0, 2, 1, 2), 1, 1.0, weight, NONE))
        yield Sample((make(), make(4, 3), classes(0, 2, 1, 2), 2, 0.5, weight, MEAN))
        yield Sample((make(), make(3), ONE, 2, 0.5, weight, SUM))


def multilabel_margins(make: Inputs) -> Iterator[Sample]:
    for reduction in (NONE, MEAN, SUM):
        yield Sample((make(4, 3), LABELS, reduction))
        yield Sample((make(4, 3, layout="transposed"), LABELS, reduction))
        yield Sample((make(3), classes(2, 0, -1), reduction))
    yield Sample((make(), ONE, MEAN))
    yield Sample((make(), Input(np.array(0), "int64"), MEAN))
    yield Sample((make(3), classes(2, 3, -1), MEAN))
    yield Sample((make(3), classes(2, -2, -1), MEAN))
    yield Sample((make(3), classes(2, 1), MEAN))
    yield Sample((make(4, 3), labels((2, 0, -1)), MEAN))
    yield Sample((make(3), classes(2, 0, -1, dtype="int32"), MEAN))


def multilabel_margin_backwards(make: Inputs) -> Iterator[Sample]:
    is_target = make.of((1, 0, 1), (0, 0, 0), (0, 1, 0), (1, 1, 1))
    yield Sample((make(4), make(4, 3), LABELS, NONE, is_target))
    yield Sample((make(), make(4, 3), LABELS, MEAN, is_target))
    yield Sample((make(), make(4, 3), LABELS, SUM, is_target))
    yield Sample((make(), make(3), classes(2, 3, -1), MEAN, make.of(1, 0, 1)))  # out of range, whatever the dtype
    yield Sample((make(), make(3), classes(2, 0, -1), MEAN, make.of(2, 0, 1)))
    yield Sample((make(), make(3), classes(2, 0, -1, dtype="int32"), MEAN, make.of(1, 0, 1)))


ROWS = [
    OpInfo("multi_margin_loss", multi_margins, dtypes=("float64", "float32"), gradgradcheck=False),
    OpInfo("multilabel_margin_loss", multilabel_margins, dtypes=("float64", "float32"), gradgradcheck=False),
    OpInfo(
        "multilabel_margin_loss_forward",
        multilabel_margins,
        dtypes=("float64", "float32"),
        gradgradcheck=False,
        call=lambda lib, *args: backward_op(lib, "multilabel_margin_loss_forward")(*args),
    ),
]
# As in torch, there are no second derivatives.
VALUES = [
    OpInfo(
        f"{name}_backward",
        samples,
        dtypes=("float64", "float32"),
        call=lambda lib, *args, name=name: backward_op(lib, f"{name}_backward")(*args),
        gradient=False,
        apart=(Apart("torch reads gradients that are not there", says="expected grad_output of"),),
    )
    for name, samples in (
        ("multi_margin_loss", multi_margin_backwards),
        ("multilabel_margin_loss", multilabel_margin_backwards),
    )
]
